// The pages about reviews in one file for the browser: fetched together when the first one is opened.

export { PullRequests } from "./pull_requests";
export { RepoPage, Repos } from "./repos";
export { ReviewPage } from "./review";

// The pages about reviews and repositories: one file for the browser.

export { RepoPage, Repos } from "../pages/repos/repos";
export { PullRequests } from "../pages/reviews/pull_requests";
export { ReviewPage } from "../pages/reviews/review";

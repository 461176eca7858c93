// Documents that the bundler includes as text.
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}

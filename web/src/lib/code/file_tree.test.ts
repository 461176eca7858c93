import { expect, test } from "@playwright/test";
import { file_tree, files_in_order, type TreeNode } from "./file_tree";

const drawn = (nodes: TreeNode<string>[], depth = 0): string[] =>
  nodes.flatMap((node) => [`${" ".repeat(depth)}${node.name}`, ...drawn(node.children, depth + 1)]);

test("folders come first and chains of folders share a line", () => {
  const files = ["README.md", "src/api/handlers/run.ts", "src/api/handlers/list.ts", "docs/a.md"];
  const tree = file_tree(files, (path) => path);
  expect(drawn(tree)).toEqual(["docs", " a.md", "src/api/handlers", " list.ts", " run.ts", "README.md"]);
  expect(files_in_order(tree)).toEqual([
    "docs/a.md",
    "src/api/handlers/list.ts",
    "src/api/handlers/run.ts",
    "README.md",
  ]);
});

test("a file that became a folder is both", () => {
  expect(drawn(file_tree(["a", "a/b"], (path) => path))).toEqual(["a", " b", "a"]);
});

test("unusual names are safe", () => {
  expect(drawn(file_tree(["__proto__/constructor", "/x"], (path) => path))).toEqual([
    "",
    " x",
    "__proto__",
    " constructor",
  ]);
});

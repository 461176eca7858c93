// The files of a change as a tree: kind and size of each change, and whether the file was viewed.

import { useMemo } from "preact/hooks";
import type { FileChange } from "../../api_types";
import { file_tree, files_in_order, type TreeNode } from "../../lib/code/file_tree";
import { plural } from "../../lib/format/number";
import { Icon } from "../icon";
import { Visible } from "../visible";

const letters = { added: "A", deleted: "D", modified: "M", renamed: "R", copied: "C" };

/** The order of the tree is the order of the diff. */
export function in_tree_order<File extends { path: string }>(files: File[]): File[] {
  return files_in_order(file_tree(files, (file) => file.path));
}

export function Counts({ file }: { file: { additions: number; deletions: number } }) {
  const words = `${plural(file.additions, "line")} added, ${file.deletions} deleted`;
  return (
    <span class="diff-counts" title={words}>
      {file.additions > 0 && <span class="plus">+{file.additions}</span>}
      {file.deletions > 0 && <span class="minus">−{file.deletions}</span>}
    </span>
  );
}

export function ChangeLetter({ change }: { change: FileChange["change"] }) {
  return (
    <span class={`change-letter ${change}`} title={change}>
      {letters[change]}
      <span class="off-screen">{change}</span>
    </span>
  );
}

interface FileListProps {
  files: FileChange[];
  chosen: string | null;
  viewed: ReadonlySet<string>;
  /** The number of open comments per file. */
  comments: ReadonlyMap<string, number>;
  flagged: ReadonlySet<string>;
  on_choose: (path: string) => void;
}

function Nodes({ nodes, props }: { nodes: TreeNode<FileChange>[]; props: FileListProps }) {
  return (
    <ul>
      {nodes.map((node) =>
        node.file ? (
          <li key={node.path}>
            <button
              type="button"
              class={`tree-file ${props.viewed.has(node.path) ? "seen" : ""}`}
              aria-current={props.chosen === node.path ? "true" : undefined}
              onClick={() => props.on_choose(node.path)}
            >
              <ChangeLetter change={node.file.change} />
              <span class="tree-name" title={node.path}>
                <Visible text={node.name} />
              </span>
              {props.flagged.has(node.path) && (
                <span class="state limit" title="This file has flagged changes">
                  <Icon name="warning" />
                  <span class="off-screen">flagged</span>
                </span>
              )}
              {(props.comments.get(node.path) ?? 0) > 0 && (
                <span class="tag">
                  <Icon name="chat" />
                  {props.comments.get(node.path)}
                </span>
              )}
              {props.viewed.has(node.path) ? (
                <span class="state done">
                  <Icon name="check" />
                  <span class="off-screen">viewed</span>
                </span>
              ) : (
                <Counts file={node.file} />
              )}
            </button>
          </li>
        ) : (
          <li key={`${node.path}/`}>
            <span class="tree-folder">
              <Visible text={node.name} />
            </span>
            <Nodes nodes={node.children} props={props} />
          </li>
        ),
      )}
    </ul>
  );
}

export function FileList(props: FileListProps) {
  const tree = useMemo(() => file_tree(props.files, (file) => file.path), [props.files]);
  return (
    <nav class="file-tree" aria-label="Changed files">
      <Nodes nodes={tree} props={props} />
    </nav>
  );
}

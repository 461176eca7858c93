// The header of a file in a change: kind and size of the change, and whether the file was viewed.

import type { FileChange } from "../../api_types";
import { Icon } from "../icon";
import { Visible } from "../visible";
import { ChangeLetter, Counts } from "./file_list";

interface HeadProps {
  file: FileChange;
  folded: boolean;
  viewed: boolean;
  on_fold: () => void;
  on_viewed: ((viewed: boolean) => void) | null;
}

export function FileHead({ file, folded, viewed, on_fold, on_viewed }: HeadProps) {
  const renamed = file.old_path !== file.path && (file.change === "renamed" || file.change === "copied");
  const mode = file.old_mode !== file.new_mode && file.old_mode !== "" && file.new_mode !== "";
  return (
    <div class="diff-head">
      <button
        type="button"
        class="quiet icon-only"
        aria-expanded={!folded}
        aria-label={`${folded ? "Expand" : "Collapse"} ${file.path}`}
        onClick={on_fold}
      >
        <Icon name={folded ? "right" : "down"} />
      </button>
      <ChangeLetter change={file.change} />
      <span class="diff-path" title={file.path}>
        {renamed && (
          <span class="soft">
            <Visible text={file.old_path} /> →{" "}
          </span>
        )}
        <b>
          <Visible text={file.path} />
        </b>
      </span>
      {mode && (
        <span class="tag">
          {file.old_mode} → {file.new_mode}
        </span>
      )}
      {file.symlink && <span class="tag">symbolic link</span>}
      {file.too_large && <span class="tag">truncated: too large</span>}
      <span class="spring" />
      <Counts file={file} />
      {on_viewed && (
        <label class="check diff-viewed">
          <input type="checkbox" checked={viewed} onChange={(event) => on_viewed(event.currentTarget.checked)} />
          <span>Viewed</span>
        </label>
      )}
    </div>
  );
}

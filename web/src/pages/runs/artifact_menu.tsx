// What people do with an artifact as a record: keep it from expiry, delete it.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Artifact } from "../../api_types";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { toast_done, toast_failed } from "../../parts/toast";
import { reviews_changed } from "../reviews/data";

const artifact_route = (artifact: Artifact) => `/v1/artifacts/${segment(artifact.id)}`;

async function keep(artifact: Artifact, kept: boolean): Promise<void> {
  try {
    await api.patch(artifact_route(artifact), { kept });
    toast_done(kept ? "Kept: the artifact and its run do not expire" : "No longer kept");
    await reviews_changed();
  } catch (error) {
    toast_failed("Could not change the artifact", error);
  }
}

export function ArtifactMenu({ artifact }: { artifact: Artifact }) {
  const [deleting, set_deleting] = useState(false);
  const items: MenuItem[] = [];
  if (can("artifact_review"))
    items.push(
      artifact.kept_by
        ? { title: "No longer keep", run: () => void keep(artifact, false) }
        : { title: "Keep from expiry", run: () => void keep(artifact, true) },
    );
  if (can("trace_delete"))
    items.push({ title: "Delete…", icon: "trash", dangerous: true, run: () => set_deleting(true) });
  if (items.length === 0) return null;
  return (
    <>
      <Menu label={`More actions for ${artifact.name}`} button={<Icon name="more" />} items={items} align="right" />
      {deleting && (
        <Confirm
          title={`Delete ${artifact.name}`}
          consequence="The artifact is deleted with its content, comments and review. This cannot be undone."
          action="Delete artifact"
          run={async () => {
            await api.delete(artifact_route(artifact));
            toast_done("Artifact deleted");
            await reviews_changed();
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

// Files that an example names as {"$file": "artifact_…"}: images are shown, others are links.

import { useState } from "preact/hooks";
import { content_route } from "../runs/data";
import { files_in } from "./file_names";

const most_shown = 20;

function ExampleFile({ id }: { id: string }) {
  const [is_image, set_is_image] = useState(true);
  return (
    <p>
      <a href={content_route(id)} target="_blank" rel="noreferrer">
        {is_image ? (
          <img class="preview-image" src={content_route(id)} alt={`File ${id}`} onError={() => set_is_image(false)} />
        ) : (
          `File ${id}`
        )}
      </a>
    </p>
  );
}

export function ExampleFiles({ value }: { value: unknown }) {
  return (
    <>
      {files_in(value)
        .slice(0, most_shown)
        .map((id) => (
          <ExampleFile key={id} id={id} />
        ))}
    </>
  );
}

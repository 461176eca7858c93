// Images, sounds and files of a message. Only data inside of the trace is shown; addresses of other servers are links.

import type { MessageMedia } from "../api_types";
import { media_size, media_view } from "../lib/code/media";
import { byte_size } from "../lib/format/number";
import { Icon } from "./icon";

/** Nothing is loaded before it is played. */
export function AudioPlayer({ address, title }: { address: string; title: string }) {
  return (
    // biome-ignore lint/a11y/useMediaCaption: a recording in a trace has no captions
    <audio controls preload="none" src={address} aria-label={title} />
  );
}

function Download({ media: { source, mime, kind }, title }: { media: MessageMedia; title: string }) {
  return (
    <a class="button" href={source} download={title}>
      <Icon name="download" /> {mime || kind} <span class="faint">{byte_size(media_size(source))}</span>
    </a>
  );
}

function Medium({ media, title }: { media: MessageMedia; title: string }) {
  const { source, mime, kind } = media;
  switch (media_view(source)) {
    case "image":
      return (
        <a href={source} download={title} title="Download the image">
          <img src={source} alt={title} loading="lazy" />
        </a>
      );
    case "audio":
      return (
        <>
          <AudioPlayer address={source} title={title} />
          <Download media={media} title={title} />
        </>
      );
    case "download":
      return <Download media={media} title={title} />;
    case "link":
      return (
        <a
          href={source}
          target="_blank"
          rel="noopener noreferrer nofollow"
          title="Opens another server; nothing was loaded from it"
        >
          <Icon name="link" /> {kind}: {source}
        </a>
      );
    case "none":
      return <span class="faint">{mime || kind} (its data was not recorded)</span>;
  }
}

export function MediaList({ media }: { media: MessageMedia[] }) {
  if (media.length === 0) return null;
  return (
    <ul class="message-media" aria-label="Media of the message">
      {media.map((one, index) => (
        <li key={index}>
          <Medium media={one} title={`${one.kind} ${index + 1}`} />
        </li>
      ))}
    </ul>
  );
}

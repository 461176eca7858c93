// A Markdown tree as elements. Never innerHTML: text of a worker can only become the nodes listed here.

import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { type Block, type Inline, parse_markdown } from "../lib/code/markdown";
import { Visible } from "./visible";

/** The address of an image in the text, or what is drawn in its place; null shows the alternative text instead. */
export type ImageSource = (source: string, alt: string) => string | VNode | null;

function Words({ nodes, image }: { nodes: Inline[]; image: ImageSource }) {
  return <>{nodes.map((node, index) => word(node, index, image))}</>;
}

function word(node: Inline, key: number, image: ImageSource): ComponentChildren {
  switch (node.kind) {
    case "text":
      return <Visible key={key} text={node.text} />;
    case "code":
      return (
        <code key={key}>
          <Visible text={node.text} />
        </code>
      );
    case "strong":
      return (
        <strong key={key}>
          <Words nodes={node.children} image={image} />
        </strong>
      );
    case "emphasis":
      return (
        <em key={key}>
          <Words nodes={node.children} image={image} />
        </em>
      );
    case "link":
      return (
        <a key={key} href={node.address} target="_blank" rel="noopener noreferrer nofollow">
          <Words nodes={node.children} image={image} />
        </a>
      );
    case "image": {
      const source = image(node.source, node.alt);
      if (source === null) return `[${node.alt || node.source}]`;
      return typeof source === "string" ? <img key={key} src={source} alt={node.alt} /> : source;
    }
  }
}

function element(block: Block, key: number, image: ImageSource): ComponentChildren {
  switch (block.kind) {
    case "heading": {
      // The page uses the first two levels.
      const Heading = block.level === 1 ? "h3" : block.level === 2 ? "h4" : "h5";
      return (
        <Heading key={key}>
          <Words nodes={block.children} image={image} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p key={key}>
          <Words nodes={block.children} image={image} />
        </p>
      );
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
        <pre key={key} tabIndex={0}>
          <code>
            <Visible text={block.text} />
          </code>
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} image={image} />
        </li>
      ));
      return block.ordered ? (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "quote":
      return (
        <blockquote key={key}>
          <Blocks blocks={block.blocks} image={image} />
        </blockquote>
      );
    case "table":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
        <div class="markdown-table" key={key} tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    <Words nodes={cell} image={image} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, at) => (
                    <td key={at}>
                      <Words nodes={cell} image={image} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "line":
      return <hr key={key} />;
  }
}

function Blocks({ blocks, image }: { blocks: Block[]; image: ImageSource }) {
  return <>{blocks.map((block, index) => element(block, index, image))}</>;
}

/** The highest heading of the text becomes the first level, and no level is left out. */
function with_headings_in_order(blocks: Block[]): Block[] {
  const open: number[] = []; // levels of the headings that the next one can be below
  return blocks.map((block) => {
    if (block.kind !== "heading") return block;
    while (open.length > 0 && (open[open.length - 1] ?? 0) >= block.level) open.pop();
    open.push(block.level);
    return { ...block, level: open.length };
  });
}

const no_image: ImageSource = () => null;

export function Markdown({ text, image = no_image }: { text: string; image?: ImageSource }) {
  const blocks = useMemo(() => with_headings_in_order(parse_markdown(text)), [text]);
  return (
    <div class="markdown">
      <Blocks blocks={blocks} image={image} />
    </div>
  );
}

// The documentation, served by the server itself: the same texts as docs/, with search over all sections.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { find_sections, with_page_links } from "../../lib/code/sections";
import type { Params } from "../../lib/route";
import { Markdown } from "../../parts/markdown";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Empty } from "../../parts/state";
import { query } from "../../router";
import { document_groups, document_page, documents } from "./list";
import { Picture, picture_at } from "./pictures";
import { texts } from "./texts";

const most_hits = 40;

/** A heading without its marks for code and emphasis. */
const plain = (heading: string) => heading.replaceAll(/[`*]/g, "");

function Hits({ wanted }: { wanted: string }) {
  const hits = useMemo(
    () =>
      documents.flatMap(({ name, title }) =>
        find_sections(texts[name] ?? "", wanted).map((hit) => ({ name, title, ...hit })),
      ),
    [wanted],
  );
  if (hits.length === 0)
    return <Empty icon="search" title="No section contains these words" text="Use fewer words, or parts of words." />;
  return (
    <ul class="doc-hits" aria-label="Sections">
      {hits.slice(0, most_hits).map((hit) => (
        <li key={`${hit.name}/${hit.section}`}>
          <a href={document_page(hit.name, hit.section)}>{plain(hit.section)}</a>{" "}
          {plain(hit.section) !== hit.title && <span class="faint">{hit.title}</span>}
          <p class="soft">{hit.line}</p>
        </li>
      ))}
    </ul>
  );
}

export function Documentation() {
  const wanted = query.value.get("q") ?? "";
  return (
    <div class="page doc-index">
      <PageHeader title="Documentation" text="Of the version that this server runs." />
      <SearchField label="Search the documentation" />
      {wanted.trim() !== "" ? (
        <Hits wanted={wanted} />
      ) : (
        <div class="doc-groups">
          {document_groups.map((group) => (
            <section key={group.title} aria-label={group.title}>
              <h2>{group.title}</h2>
              <ul class="doc-list">
                {group.documents.map(({ name, title }) => (
                  <li key={name}>
                    <a href={document_page(name)}>{title}</a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      )}
    </div>
  );
}

function picture(source: string, alt: string) {
  const svg = picture_at(source);
  return svg === null ? null : <Picture svg={svg} alt={alt} />;
}

export function DocumentPage({ params }: { params: Params }) {
  const name = params.document ?? "";
  const found = documents.find((one) => one.name === name);
  const body = useRef<HTMLDivElement>(null);
  const section = query.value.get("section");
  const text = useMemo(() => {
    const known = (other: string) =>
      documents.some((one) => one.name === other) ? `${window.location.origin}${document_page(other)}` : null;
    // The first line is the title, which the page has already.
    return with_page_links((texts[name] ?? "").replace(/^# .*\n/, ""), known);
  }, [name]);
  useEffect(() => {
    const headings = [...(body.current?.querySelectorAll("h3, h4, h5") ?? [])];
    headings.find((heading) => heading.textContent?.trim() === plain(section ?? ""))?.scrollIntoView();
  }, [text, section]);
  if (!found)
    return (
      <div class="page">
        <Empty whole_page icon="search" title="Document not found" text="The list has all documents of this version.">
          <a class="button" href="/docs">
            All documents
          </a>
        </Empty>
      </div>
    );
  return (
    <div class="page">
      <PageHeader title={found.title} />
      <div class="document" ref={body}>
        {/* Headings of a text start at the third level. */}
        <h2 class="off-screen">Text</h2>
        <Markdown text={text} image={picture} />
      </div>
    </div>
  );
}

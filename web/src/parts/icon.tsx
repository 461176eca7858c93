// Our own small set: 16 px, strokes of 1.4, drawn in the colour of the text around it.

const shapes = {
  home: "M2.5 7.5 8 2.8l5.5 4.7M4 6.6v6.6h8V6.6M6.7 13.2V9.6h2.6v3.6",
  project: "M8 1.9 13.6 5v6L8 14.1 2.4 11V5ZM2.6 5.1 8 8.1l5.4-3M8 8.1v5.8",
  settings:
    "M2 4.5h6.2M11.8 4.5H14M2 11.5h2.2M7.8 11.5H14M11.8 4.5a1.8 1.8 0 1 1-3.6 0 1.8 1.8 0 0 1 3.6 0ZM7.8 11.5a1.8 1.8 0 1 1-3.6 0 1.8 1.8 0 0 1 3.6 0Z",
  people:
    "M8.3 5.2a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0ZM1.8 13.2c.2-2.6 1.8-4 4.2-4s4 1.4 4.2 4M10.4 3.1a2.2 2.2 0 0 1 0 4.2M11.6 9.5c1.6.5 2.5 1.8 2.6 3.7",
  person: "M10.6 5.2a2.6 2.6 0 1 1-5.2 0 2.6 2.6 0 0 1 5.2 0ZM3 13.6c.3-2.8 2.2-4.2 5-4.2s4.7 1.4 5 4.2",
  shield: "M8 1.9 13.2 3.8v4c0 3-2.2 5.3-5.2 6.3-3-1-5.2-3.3-5.2-6.3v-4ZM5.7 7.9l1.7 1.7 3-3.2",
  key: "M8.4 8.7a3.2 3.2 0 1 1-1.1-1.1l6-6M11.2 3.7l1.9 1.9M9.5 5.4l1.3 1.3",
  history: "M2.6 8A5.4 5.4 0 1 0 4.3 4.1L2.5 5.7M2.5 2.7v3h3M8 5v3.2l2.2 1.4",
  server: "M2.5 2.8h11v4.4h-11ZM2.5 8.8h11v4.4h-11ZM5 5h.01M5 11h.01M7.5 5h3.5M7.5 11h3.5",
  spaces: "M2.5 2.5h4.6v4.6H2.5ZM8.9 2.5h4.6v4.6H8.9ZM2.5 8.9h4.6v4.6H2.5ZM8.9 8.9h4.6v4.6H8.9Z",
  search: "M11.4 6.9a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM10.2 10.2l3.6 3.6",
  plus: "M8 3v10M3 8h10",
  copy: "M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1",
  check: "m3 8.5 3.3 3.3L13 4.8",
  close: "m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4",
  down: "m4 6.2 4 4 4-4",
  right: "m6.2 4 4 4-4 4",
  left: "m9.8 4-4 4 4 4",
  up: "m4 9.8 4-4 4 4",
  menu: "M2.5 4.3h11M2.5 8h11M2.5 11.7h11",
  sidebar: "M2.2 3h11.6v10H2.2ZM6 3v10",
  columns: "M2.5 3h11v10h-11ZM6.2 3v10M9.8 3v10",
  download: "M8 2.5v7.2M4.8 6.8 8 10l3.2-3.2M2.8 13.2h10.4",
  rotate: "M13.4 8a5.4 5.4 0 0 1-9.7 3.3M2.6 8a5.4 5.4 0 0 1 9.7-3.3M12.6 2v2.9H9.7M3.4 14v-2.9h2.9",
  trash: "M2.8 4.3h10.4M6 4.1V2.5h4v1.6M4.2 4.5l.6 8.9h6.4l.6-8.9M6.7 7v4M9.3 7v4",
  more: "M4.1 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0ZM8.6 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0ZM13.1 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0Z",
  clock: "M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0ZM8 4.8V8l2.2 1.5",
  link: "M6.7 9.3a2.8 2.8 0 0 0 4 0l2-2a2.8 2.8 0 0 0-4-4l-.8.8M9.3 6.7a2.8 2.8 0 0 0-4 0l-2 2a2.8 2.8 0 0 0 4 4l.8-.8",
  warning: "M8 2.3 14.3 13H1.7ZM8 6.3v3.2M8 11.2h.01",
  info: "M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0ZM8 7.4v3.4M8 5.2h.01",
  keyboard: "M1.8 4h12.4v8H1.8ZM4.3 6.6h.01M6.8 6.6h.01M9.3 6.6h.01M11.7 6.6h.01M5 9.5h6",
  leave: "M9.5 5V2.8H2.8v10.4h6.7V11M6.5 8h7.3M11.3 5.5 13.8 8l-2.5 2.5",
  lock: "M3.5 7.2h9v6.3h-9ZM5.3 7V5a2.7 2.7 0 0 1 5.4 0v2",
  sun: "M10.8 8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13.3 9.6A5.7 5.7 0 0 1 6.4 2.7a5.7 5.7 0 1 0 6.9 6.9Z",
  screen: "M2 3h12v8H2ZM6 13.5h4M8 11v2.5",
  stop: "M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0ZM4.2 4.2l7.6 7.6",
  mail: "M2 3.8h12v8.4H2ZM2.3 4.2 8 8.7l5.7-4.5",
  trace: "M2 3.5h7M5 7h8M5 10.5h4.5M8 14h6",
  chat: "M2.2 3h11.6v7.6H7.4L4.4 13.2v-2.6H2.2ZM5 5.8h6M5 8h4",
  database:
    "M13 4c0 1.1-2.2 2-5 2s-5-.9-5-2 2.2-2 5-2 5 .9 5 2ZM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2",
  spark: "M8 1.8 9.5 6.5 14.2 8 9.5 9.5 8 14.2 6.5 9.5 1.8 8 6.5 6.5Z",
  chain: "M2.5 5.5h4v5h-4ZM9.5 5.5h4v5h-4ZM6.5 8h3",
  tool: "M13.3 4.4a3.4 3.4 0 0 1-4.6 4L4.4 12.7a1.2 1.2 0 0 1-1.7-1.7L7 6.7a3.4 3.4 0 0 1 4-4.6L9 4.2l.4 1.9 1.9.4Z",
  agent: "M3 5.5h10v7H3ZM8 5.5V2.8M6 8.8h.01M10 8.8h.01M6.2 10.8h3.6",
  vector: "M4 12.5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0ZM2.5 11V3M4 12.5h9M3.6 11.4 10 5M10.5 8V4.5H7",
  dot: "M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z",
  filter: "M2 3.5h12L9.5 8.7v4.6L6.5 11.7v-3Z",
  play: "M4.5 3v10l8.5-5Z",
  signal: "M1.8 8h2.6l1.8-4.6 3.2 9.2L11.4 8h2.8",
  bell: "M8 2.2a3.8 3.8 0 0 0-3.8 3.8v2.6L2.9 11h10.2l-1.3-2.4V6A3.8 3.8 0 0 0 8 2.2ZM6.6 13.2a1.5 1.5 0 0 0 2.8 0",
  gauge: "M2.4 11.6a5.8 5.8 0 1 1 11.2 0M8 9.6l2.6-3.4",
  overview: "M2.5 13.5h11M4 11V8M7 11V3.5M10 11V6M13 11V4.8",
} as const;

export type IconName = keyof typeof shapes;

/** Icons are decoration: the word beside them, or the label of their button, carries the meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path class="mark-body" d="M8 1.5 14.5 8 8 14.5 1.5 8Z" />
      <path class="mark-edge" d="M8 1.5 14.5 8H8Z" />
    </svg>
  );
}

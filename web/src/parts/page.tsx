// The header of every page, and sections of settings.

import type { ComponentChildren } from "preact";
import { Visible } from "./visible";

interface HeaderProps {
  title: string;
  text?: ComponentChildren;
  children?: ComponentChildren;
}

export function PageHeader({ title, text, children }: HeaderProps) {
  return (
    <header class="page-head">
      <h1>
        <Visible text={title} />
      </h1>
      {text && <p class="page-text">{text}</p>}
      {children && <div class="page-actions">{children}</div>}
    </header>
  );
}

export function Section({ title, text, children }: HeaderProps) {
  return (
    <section class="section" aria-label={title}>
      <h2>{title}</h2>
      {text && <p class="page-text">{text}</p>}
      {children}
    </section>
  );
}

// Short messages at the bottom. A success message closes automatically, an error stays until it is closed.

import { signal } from "@preact/signals";
import { to_api_error } from "../api";
import { CopyButton } from "./copy";
import { Icon } from "./icon";

interface Toast {
  id: number;
  kind: "done" | "failed";
  text: string;
  request_id?: string | null;
  action?: { title: string; run: () => void };
}

const toasts = signal<Toast[]>([]);
let next_id = 1;
const done_lifetime = 5000;

function remove(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

function add(toast: Omit<Toast, "id">): void {
  const id = next_id++;
  toasts.value = [...toasts.peek().slice(-3), { ...toast, id }];
  if (toast.kind === "done") setTimeout(() => remove(id), done_lifetime);
}

/** "Project renamed", with an undo action where possible. */
export function toast_done(text: string, action?: Toast["action"]): void {
  add({ kind: "done", text, action });
}

export function toast_failed(text: string, error: unknown): void {
  const { message, request_id } = to_api_error(error);
  add({ kind: "failed", text: `${text}: ${message}`, request_id });
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div class={`toast ${toast.kind}`} key={toast.id}>
          <Icon name={toast.kind === "done" ? "check" : "warning"} />
          <span class="toast-text">{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                toast.action?.run();
                remove(toast.id);
              }}
            >
              {toast.action.title}
            </button>
          )}
          {toast.request_id && <CopyButton text={toast.request_id} label="Copy request id" small />}
          <button type="button" class="quiet icon-only" aria-label="Close message" onClick={() => remove(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}

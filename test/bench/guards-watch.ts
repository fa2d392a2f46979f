import { type EventData, EVENTS, type StreamFrame } from "@lanthorn/contract";
import { setTimeout as pause } from "node:timers/promises";

/** One alert of a guard, from its first event on. */
export interface SeenIncident {
  readonly kind: string;
  readonly subject: string;
  readonly severity: string;
  readonly detail: string;
  /** Wall milliseconds at which the collector's stream gave it to us. */
  readonly arrivedAt: number;
  isOpen: boolean;
}

/** What the collector's stream has of the guards, as incidents. */
export interface GuardsWatch {
  /** All so far, in the order in which they came; information is none. */
  incidents(): readonly SeenIncident[];
  /** Waits until none of these is open. @returns Those that still are after `longestMs`. */
  untilOver(these: () => readonly SeenIncident[], longestMs: number): Promise<readonly SeenIncident[]>;
  close(): void;
}

const LOOK_MS = 50;

/** @param frames The stream's, which grow. */
export function watchGuards(frames: readonly StreamFrame[]): GuardsWatch {
  const incidents: SeenIncident[] = [];
  const open = new Map<string, SeenIncident>();
  let read = 0;
  const look = () => {
    for (; read < frames.length; read += 1) {
      const frame = frames[read];
      if (frame?.event === "rogue_detected") take(EVENTS.rogue_detected.data.parse(frame.data));
    }
  };
  function take(data: EventData<"rogue_detected">): void {
    const { kind, subject = "", severity, detail } = data;
    const key = `${kind} ${subject}`;
    const known = open.get(key);
    if (data.state === "ended") {
      if (known) known.isOpen = false;
      open.delete(key);
      return;
    }
    if (known || severity === "info") return;
    const incident = { kind, subject, severity, detail, arrivedAt: Date.now(), isOpen: true };
    open.set(key, incident);
    incidents.push(incident);
  }
  const timer = setInterval(look, LOOK_MS);
  return {
    incidents: () => incidents,
    async untilOver(these, longestMs) {
      const left = () => these().filter(({ isOpen }) => isOpen);
      for (const end = performance.now() + longestMs; left().length > 0 && performance.now() < end;) await pause(LOOK_MS);
      return left();
    },
    close: () => clearInterval(timer),
  };
}

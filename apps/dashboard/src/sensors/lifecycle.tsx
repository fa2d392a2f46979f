import type { Lifecycle } from "@lanthorn/contract";
import { Mark, type Tone } from "../parts/mark.tsx";

const STATES: Readonly<Record<Lifecycle, { readonly tone: Tone; readonly text: string }>> = {
  learning: { tone: "warn", text: "Too little is known of it yet: nothing is reported." },
  active: { tone: "good", text: "It is compared with what is usual for it, and learned." },
  drifted: { tone: "warn", text: "It was unusual for days: what it does now is learned anew." },
  frozen: { tone: "calm", text: "It is compared with what is usual for it, and not learned." },
};

/** In which state of being learned a device is. */
export function LifecycleMark({ lifecycle }: { readonly lifecycle: Lifecycle }) {
  return <Mark tone={STATES[lifecycle].tone}>{lifecycle}</Mark>;
}

/** What that state means. */
export function lifecycleText(lifecycle: Lifecycle): string {
  return STATES[lifecycle].text;
}

import { useEffect, useState } from "react";
import { clock } from "../clock.ts";

/** A search counts when somebody has stopped writing it. */
const PAUSE_MS = 300;

/** Where words are written that a list is searched for. */
export function SearchBox({ label, placeholder, longest, given = "", onChange }: {
  readonly label: string; readonly placeholder: string; readonly longest: number;
  /** What the address has. */
  readonly given: string | undefined;
  readonly onChange: (text: string) => void;
}) {
  const [text, setText] = useState(given);
  useEffect(() => (text === given ? undefined : clock.after(PAUSE_MS, () => onChange(text))));
  return (
    <input
      type="search" aria-label={label} placeholder={placeholder} value={text} maxLength={longest} onChange={(event) => setText(event.target.value)}
      // Who leaves the box has written it, and goes elsewhere from what it leaves.
      onBlur={() => {
        if (text !== given) onChange(text);
      }}
    />
  );
}

import { DEVICE_FILTER_TERMS, type DeviceFilter, formatDeviceFilter, parseDeviceFilter } from "@lanthorn/contract";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { clock } from "../../clock.ts";
import { type Command, useCommands } from "../../keyboard/commands.ts";
import { Icon } from "../../parts/icon.tsx";
import styles from "./filter-box.module.css";
import { useSuggestions } from "./suggestions.tsx";

/** A filter counts when somebody has stopped writing it: soon, but not at each letter of a long one, which the API's limit for a minute would not let through. */
const PAUSES = { shortMs: 30, longMs: 300, most: 6, withinMs: 4000 } as const;
/** Each in one click; written out, so that the language is learned by the way. */
const QUICK = ["state:online", "state:offline", "type:server", "type:router,switch,access_point", "type:printer", "type:camera,iot", "seen:>7d"] as const;

/** Where the filter is written, in the language that API and command understand as well. */
export function FilterBox({ filter, siteId, onChange }: { readonly filter: DeviceFilter; readonly siteId: string | undefined; readonly onChange: (filter: DeviceFilter) => void }) {
  const given = formatDeviceFilter(filter);
  const [text, setText] = useState(given);
  const written = useRef(given);
  /** When filters last counted, in milliseconds. */
  const counted = useRef<readonly number[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const ids = { hint: useId(), message: useId() };
  const parsed = parseDeviceFilter(text);
  const suggestions = useSuggestions({ text, siteId, onTake: setText, input });

  // The address has changed by another way than this box.
  useEffect(() => {
    if (given === written.current) return;
    written.current = given;
    setText(given);
  }, [given]);
  const count = useCallback(() => {
    const read = parseDeviceFilter(text);
    if (!read.ok || formatDeviceFilter(read.filter) === written.current) return;
    counted.current = [...counted.current, clock.now()].slice(-PAUSES.most);
    written.current = formatDeviceFilter(read.filter);
    onChange(read.filter);
  }, [text, onChange]);
  useEffect(() => clock.after(pauseAfter(counted.current), count), [count]);
  useCommands(useMemo((): readonly Command[] => [
    { id: "filter", title: "Filter devices", group: "This page", keys: "/", run: () => input.current?.focus() },
  ], []));
  const toggle = (term: string) => setText(text.includes(term) ? text.replace(term, "").replaceAll(/ +/g, " ").trim() : `${text} ${term}`.trim());
  return (
    <div className={styles["box"]} role="search">
      <div className={styles["field"]} data-wrong={!parsed.ok}>
        <Icon name="search" />
        <input
          ref={input} type="search" value={text} aria-label="Filter devices" aria-describedby={`${ids.hint} ${ids.message}`} aria-invalid={!parsed.ok}
          placeholder='Name, address, or type:printer -tag:lab vendor:"Cisco" port:22 seen:<7d' spellCheck={false} autoComplete="off"
          {...suggestions.combobox}
          // Who leaves the box has written it, and goes elsewhere from what it leaves.
          onBlur={(event) => {
            suggestions.combobox.onBlur?.(event);
            count();
          }}
          onChange={(event) => {
            setText(event.target.value);
            suggestions.open();
          }}
          onKeyDown={(event) => {
            suggestions.onKeyDown(event);
            if (event.key !== "Escape") return;
            // Browsers would empty the field.
            event.preventDefault();
            input.current?.blur();
          }}
        />
        <kbd>/</kbd>
        {suggestions.list}
      </div>
      <p id={ids.hint} className={styles["hint"]}>Words before a colon: {DEVICE_FILTER_TERMS.join(", ")}. A comma means either, a minus sign not.</p>
      <p id={ids.message} className={styles["message"]} aria-live="polite">{parsed.ok ? "" : parsed.message}</p>
      <div className={styles["quick"]} role="group" aria-label="Frequent filters">
        {QUICK.map((term) => <button key={term} type="button" aria-pressed={text.includes(term)} onClick={() => toggle(term)}>{term}</button>)}
      </div>
    </div>
  );
}

function pauseAfter(counted: readonly number[]): number {
  const oldest = counted.length < PAUSES.most ? undefined : counted[0];
  return oldest !== undefined && oldest > clock.now() - PAUSES.withinMs ? PAUSES.longMs : PAUSES.shortMs;
}

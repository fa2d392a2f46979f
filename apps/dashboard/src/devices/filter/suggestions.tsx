import { CveSeverity, type DeviceFacets, DeviceType, PresenceState } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { useSession } from "../../session/use-session.ts";
import { showForeign } from "../../texts/foreign.tsx";
import styles from "./filter-box.module.css";
import { suggest, type Suggestion, type ValuesOf, wordAt } from "./suggest.ts";

/** Words whose values are what devices have; all others' are known. */
const COUNTED = { vendor: "vendor", os: "os", tag: "tag", port: "open_port" } as const;
const KNOWN: ValuesOf = {
  type: DeviceType.options, state: PresenceState.options, online: ["true", "false"], cve: CveSeverity.options.map((severity) => `>=${severity}`), seen: ["<1h", "<24h", "<7d", ">7d", ">30d"], found: ["<1h", "<24h", "<7d", ">30d"],
};

/** What may be written where somebody writes, chosen with arrow keys and Enter, or by a click. Nothing is chosen by itself. */
export function useSuggestions({ text, siteId, onTake, input }: {
  readonly text: string; readonly siteId: string | undefined; readonly onTake: (text: string) => void; readonly input: RefObject<HTMLInputElement | null>;
}): { readonly combobox: InputHTMLAttributes<HTMLInputElement>; readonly list: ReactNode; readonly onKeyDown: (event: KeyboardEvent) => void; readonly open: () => void } {
  const [caret, setCaret] = useState<number | null>(null);
  const [at, setAt] = useState(-1);
  const listId = useId();
  const taken = useRef<number | null>(null);
  const values = useValues(caret === null ? null : wordAt(text, caret), siteId);
  const suggestions = caret === null ? [] : suggest(text, Math.min(caret, text.length), values);
  const current = Math.min(at, suggestions.length - 1);
  useLayoutEffect(() => {
    if (taken.current === null) return;
    input.current?.setSelectionRange(taken.current, taken.current);
    taken.current = null;
  });
  const take = (suggestion: Suggestion) => {
    taken.current = suggestion.caret;
    onTake(suggestion.text);
    setCaret(suggestion.caret);
    setAt(-1);
  };
  return {
    combobox: {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": suggestions.length > 0, "aria-controls": listId, "aria-activedescendant": current >= 0 ? `${listId}-${current}` : undefined,
      onBlur: () => setCaret(null), onSelect: ({ currentTarget }) => setCaret((before) => (before === null ? null : currentTarget.selectionStart)),
    },
    open() {
      setCaret(input.current?.selectionStart ?? null);
      setAt(-1);
    },
    onKeyDown(event) {
      const chosen = suggestions[current];
      if (event.key === "Escape") setCaret(null);
      else if (event.key === "Enter" && chosen) take(chosen);
      else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && suggestions.length > 0) setAt(event.key === "ArrowDown" ? (current + 1) % suggestions.length : (current <= 0 ? suggestions.length : current) - 1);
      else return;
      event.preventDefault();
    },
    list: (
      <ul id={listId} role="listbox" aria-label="What may be written" className={styles["suggestions"]} hidden={suggestions.length === 0}>
        {suggestions.map((suggestion, index) => (
          <li
            key={suggestion.label} id={`${listId}-${index}`} role="option" aria-selected={index === current}
            onPointerDown={(event) => {
              // The field keeps the focus.
              event.preventDefault();
              take(suggestion);
            }}
          >
            <bdi>{showForeign(suggestion.label, 60)}</bdi>
          </li>
        ))}
      </ul>
    ),
  };
}

/** Values of a word; those that devices have are asked for while they are written. */
function useValues(word: string | null, siteId: string | undefined): ValuesOf {
  const { rest } = useSession();
  const counts = useQuery({ queryKey: ["devices", "facets", { site_id: siteId }], enabled: word !== null && Object.hasOwn(COUNTED, word), queryFn: () => rest.countDevices({ site_id: siteId }) });
  return counts.data ? { ...KNOWN, ...countedOf(counts.data) } : KNOWN;
}

function countedOf(facets: DeviceFacets): ValuesOf {
  return Object.fromEntries(Object.entries(COUNTED).map(([word, facet]) => [word, facets[facet].map(({ value }) => value)]));
}

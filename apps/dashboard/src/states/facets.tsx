import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { showForeign } from "../texts/foreign.tsx";
import { ErrorNote } from "./error-note.tsx";
import styles from "./facets.module.css";

/** More would hide the list; the rest is found by writing. */
const MAX_VALUES = 12;

/**
 * What a filter leaves, counted by its fields; a click adds a value to the filter, or takes it out again. They are counted only while
 * somebody looks.
 * @param props.fields Their names by the filter's. @param props.chosen The filter. @param props.show How a value is shown.
 * @param props.onChoose Undefined takes the field out.
 */
export function FacetList<Name extends string>({ summary, fields, chosen, queryKey, read, show, onChoose }: {
  readonly summary: string; readonly fields: Readonly<Record<Name, string>>; readonly chosen: { readonly [name in Name]?: string | undefined };
  readonly queryKey: readonly unknown[]; readonly read: () => Promise<Readonly<Record<Name, readonly { readonly value: string; readonly count: number }[]>>>;
  readonly show: (name: Name, value: string) => string; readonly onChoose: (name: Name, value: string | undefined) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const counts = useQuery({ queryKey, enabled: isOpen, placeholderData: keepPreviousData, queryFn: read });
  const { data } = counts;
  return (
    <details className={styles["facets"]} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {counts.isError && <ErrorNote error={counts.error} onRetry={() => void counts.refetch()} />}
      {data && (Object.keys(fields) as Name[]).map((name) => (
        <div key={name} role="group" aria-label={fields[name]}>
          <span>{fields[name]}</span>
          {data[name].slice(0, MAX_VALUES).map(({ value, count }) => (
            <button key={value} type="button" aria-pressed={chosen[name] === value} onClick={() => onChoose(name, chosen[name] === value ? undefined : value)}>
              {showForeign(show(name, value), 40)} <b>{count.toLocaleString("en")}</b>
            </button>
          ))}
          {data[name].length === 0 && <small>none known</small>}
        </div>
      ))}
    </details>
  );
}

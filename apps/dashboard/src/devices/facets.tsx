import type { DeviceFilter } from "@lanthorn/contract";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { showForeign } from "../texts/foreign.tsx";
import styles from "./facets.module.css";

const FIELDS = { device_type: "Type", presence_state: "State", vendor: "Vendor" } as const;
const TYPE_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(DEVICE_TYPE_NAMES));
/** More would hide the list; the rest is found by writing. */
const MAX_VALUES = 12;

/** What the devices are that the filter leaves, counted; a click adds it to the filter. They are counted only while somebody looks. */
export function Facets({ filter, onChange }: { readonly filter: DeviceFilter; readonly onChange: (filter: DeviceFilter) => void }) {
  const { rest } = useSession();
  const [isOpen, setOpen] = useState(false);
  const counts = useQuery({ queryKey: ["devices", "facets", filter], enabled: isOpen, placeholderData: keepPreviousData, queryFn: () => rest.countDevices(filter) });
  const toggle = (name: keyof typeof FIELDS, value: string) => {
    const { [name]: current, ...others } = filter;
    onChange(current === value ? others : { ...others, [name]: value });
  };
  return (
    <details className={styles["facets"]} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Types, states and vendors</summary>
      {counts.isError && <ErrorNote error={counts.error} onRetry={() => void counts.refetch()} />}
      {counts.data && Object.entries(FIELDS).map(([key, title]) => {
        const name = key as keyof typeof FIELDS;
        return (
          <div key={name} role="group" aria-label={title}>
            <span>{title}</span>
            {counts.data[name].slice(0, MAX_VALUES).map(({ value, count }) => (
              <button key={value} type="button" aria-pressed={filter[name] === value} onClick={() => toggle(name, value)}>
                {showForeign(name === "device_type" ? TYPE_NAMES.get(value) ?? value : value, 40)} <b>{count.toLocaleString("en")}</b>
              </button>
            ))}
            {counts.data[name].length === 0 && <small>none known</small>}
          </div>
        );
      })}
    </details>
  );
}

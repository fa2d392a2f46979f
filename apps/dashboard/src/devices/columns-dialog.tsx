import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { useUpdatePreferences } from "../shell/kept-preferences.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { type Column, COLUMNS } from "./columns.tsx";
import styles from "./columns-dialog.module.css";

/** Which columns the list has, and in which order: kept for every browser of who chooses. @param props.onShow Shows them; undefined for the usual ones. */
export function ColumnsDialog({ shown, onShow, onClose }: {
  readonly shown: readonly Column[]; readonly onShow: (names: readonly string[] | undefined) => void; readonly onClose: () => void;
}) {
  const [order, setOrder] = useState<readonly Column[]>([...shown, ...COLUMNS.filter((column) => !shown.includes(column))]);
  const [chosen, setChosen] = useState<ReadonlySet<Column>>(new Set(shown));
  const kept = useUpdatePreferences(({ columns: { devices: names = [] } = {} }) => {
    onShow(names.length === 0 ? undefined : names);
    onClose();
  });
  const keep = (devices: string[]) => kept.mutate({ columns: { devices } });
  const toggle = (column: Column) => setChosen((before) => {
    const next = new Set(before);
    if (!next.delete(column)) next.add(column);
    return next;
  });
  const moveUp = (index: number) => setOrder((before) => before.map((column, at) => (at === index - 1 ? before[index] : at === index ? before[index - 1] : column) ?? column));
  const names = order.filter((column) => chosen.has(column)).map(({ id }) => id);
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div className={form["form"]}>
        <p>A phone shows the first three.</p>
        <ul className={styles["columns"]}>
          {order.map((column, index) => (
            <li key={column.id}>
              <label><input type="checkbox" checked={chosen.has(column)} onChange={() => toggle(column)} /> {column.title}</label>
              <Button kind="quiet" aria-label={`Move ${column.title} up`} onClick={() => moveUp(index)}><Icon name="up" /></Button>
            </li>
          ))}
        </ul>
        {kept.isError && <ErrorNote error={kept.error} />}
        <div className={form["actions"]}>
          <Button onClick={() => keep([])} disabled={kept.isPending}>The usual ones</Button>
          <Button kind="primary" onClick={() => keep(names)} disabled={kept.isPending || names.length === 0}>Show these</Button>
        </div>
      </div>
    </Dialog>
  );
}

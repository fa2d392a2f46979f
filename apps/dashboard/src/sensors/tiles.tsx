import type { ReactNode } from "react";
import styles from "./sensors.module.css";

/** Numbers that say how much there is. */
export function Tiles({ of }: { readonly of: readonly (readonly [name: string, value: number, note?: ReactNode])[] }) {
  return (
    <dl className={styles["tiles"]}>
      {of.map(([name, value, note]) => <div key={name} className={styles["tile"]}><dt>{name}</dt><dd>{value.toLocaleString("en")}{note !== undefined && <small>{note}</small>}</dd></div>)}
    </dl>
  );
}

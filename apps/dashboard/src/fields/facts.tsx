import type { ReactNode } from "react";
import styles from "./facts.module.css";

/** What is known of something: names and values, beside each other where there is room; `wide` for a value that takes a line of its own. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode, width?: "wide"])[] }) {
  return <dl className={styles["facts"]}>{of.map(([name, value, width]) => <div key={name} data-width={width}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

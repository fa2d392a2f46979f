import type { ReactNode } from "react";
import styles from "./facts.module.css";

/** What is known of something: names and values, beside each other where there is room. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return <dl className={styles["facts"]}>{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

import type { ReactNode } from "react";
import styles from "./table.module.css";

/** What is done with a row: at its end, and needs no name where rows are blocks. */
const ACTION = "Action";

/**
 * A table. Where it has no room for columns, each row is a block: its first cell, and below it the others, each after its column's name.
 * @param props.heads Names of the columns; false for one that is not there. @param props.children The rows. @param props.isSmall Whether its columns have room everywhere.
 */
export function Table({ heads, children, isSmall = false }: { readonly heads: readonly (string | false | null)[]; readonly children: ReactNode; readonly isSmall?: boolean }) {
  const names = heads.filter((head) => head !== false && head !== null);
  const labels = Object.fromEntries(names.map((name, at) => [`--label-${at + 1}`, name === ACTION ? "none" : JSON.stringify(name)]));
  return (
    <table className={isSmall ? styles["small"] : styles["table"]} data-acts={names.at(-1) === ACTION} style={labels}>
      <thead><tr>{names.map((name, at) => <th key={at} scope="col">{name}</th>)}</tr></thead>
      <tbody>{children}</tbody>
    </table>
  );
}

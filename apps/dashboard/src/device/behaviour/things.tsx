import type { LearnedBehaviour } from "@lanthorn/contract";
import { Foreign, showForeign } from "../../texts/foreign.tsx";
import { percent } from "../../texts/percent.ts";
import styles from "./behaviour.module.css";

/** As many are seen at once; the rest opens. */
const SHOWN = 6;

/** What a device usually has to do with, and in which share of its hours. */
export function Things({ title, things, nothing }: { readonly title: string; readonly things: LearnedBehaviour["peers"]; readonly nothing: string }) {
  const rest = things.slice(SHOWN);
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {things.length > 0 && <p className={styles["soft"]}>in so many of its hours</p>}
      {things.length === 0 && <p className={styles["soft"]}>{nothing}</p>}
      <Rows things={things.slice(0, SHOWN)} />
      {rest.length > 0 && <details><summary>{rest.length} more</summary><Rows things={rest} /></details>}
    </section>
  );
}

function Rows({ things }: { readonly things: LearnedBehaviour["peers"] }) {
  return (
    <ul>
      {things.map(({ name, share }) => (
        <li key={name} title={showForeign(name, 160)}>
          <span><Foreign text={name} longest={80} /></span>
          <meter min={0} max={1} value={share} aria-label="Share of its hours" />
          <small>{percent(share)}</small>
        </li>
      ))}
    </ul>
  );
}

import type { AlertEvidence } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { kindName, words } from "../texts/words.ts";
import styles from "./evidence.module.css";
import { PacketBytes } from "./packet-bytes.tsx";

/** Ids of our own say nothing beside their links; packets and claims are drawn below. */
const DRAWN: ReadonlySet<string> = new Set([
  "packets", "site_id", "probe_id", "device_id", "incident_id", "before", "after", "expected", "observed", "ip", "mac", "expected_macs", "alert_id",
  // The alert itself says these.
  "kind", "state", "subject", "severity", "detail", "mitre_techniques",
]);

/** Ids of ours and moments, as every event writes them. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** The events behind an alert, each drawn by what it is about. */
export function Evidence({ events }: { readonly events: readonly AlertEvidence[] }) {
  return (
    <section className={styles["evidence"]}>
      <h3>Evidence</h3>
      <ol>
        {events.map(({ event_id: id, event, occurred_at: at, data }) => (
          <li key={id}>
            <p className={styles["when"]}><strong>{kindName(event)}</strong> <Moment at={at} exact /></p>
            <Claims data={data} />
            <Difference data={data} />
            <Rest data={data} />
            <PacketBytes packets={listOf(data["packets"])} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Who claims an address, and whose it was known to be. */
function Claims({ data }: { readonly data: AlertEvidence["data"] }) {
  const { ip, mac } = data;
  if (typeof ip !== "string" || typeof mac !== "string" || (ip === "" && mac === "")) return null;
  const expected = listOf(data["expected_macs"]);
  return (
    <div className={styles["claims"]}>
      <span className={styles["node"]} data-kind="claim"><small>{expected.length > 0 ? "claims it now" : "is seen"}</small><code>{mac || "no MAC"}</code></span>
      <span className={styles["arrow"]} aria-hidden="true">→</span>
      <span className={styles["node"]}><small>address</small><code>{ip || "none"}</code></span>
      {expected.length > 0 && (
        <><span className={styles["arrow"]} aria-hidden="true">←</span>
          <span className={styles["node"]} data-kind="known"><small>known as its owner</small>{expected.map((each) => <code key={each}>{each}</code>)}</span></>
      )}
    </div>
  );
}

/** How it was and how it is, as events name it. */
const DIFFERENCES = [["before", "after"], ["expected", "observed"]] as const;

/** Both, side by side. */
function Difference({ data }: { readonly data: AlertEvidence["data"] }) {
  const pair = DIFFERENCES.find((names) => names.some((name) => data[name] !== undefined));
  return pair && <div className={styles["difference"]}>{pair.map((name) => <div key={name}><small>{name}</small><Value value={data[name]} /></div>)}</div>;
}

function Rest({ data }: { readonly data: AlertEvidence["data"] }) {
  const rows = Object.entries(data).filter(([name, value]) => !DRAWN.has(name) && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0) && !(typeof value === "string" && UUID.test(value)));
  return (
    <dl className={styles["rest"]}>
      {rows.map(([name, value]) => <div key={name}><dt>{words(name)}</dt><dd><Value value={value} /></dd></div>)}
    </dl>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (typeof value === "string" && INSTANT.test(value)) return <Moment at={value} exact />;
  if (value === null || value === undefined || value === "") return <>none</>;
  return <Foreign text={typeof value === "string" ? value : typeof value === "object" ? describe(value) : JSON.stringify(value)} longest={1000} />;
}

/** Lists with commas, records as `name value`. */
function describe(value: object): string {
  if (Array.isArray(value)) return value.map((each: unknown) => (typeof each === "object" && each !== null ? describe(each) : String(each))).join(", ");
  return Object.entries(value).map(([name, each]: [string, unknown]) => `${name} ${typeof each === "object" && each !== null ? describe(each) : String(each)}`).join(" · ");
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

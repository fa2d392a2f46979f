import type { Probe } from "@lanthorn/contract";
import { Mark, type Tone } from "../parts/mark.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { percent } from "../texts/percent.ts";
import { formatSize } from "../texts/size.ts";
import styles from "./probe-card.module.css";

const TONES: Readonly<Record<Probe["state"], Tone>> = { online: "good", enrolled: "calm", silent: "warn", revoked: "calm" };
/** From here on a bar is red. */
const FULL = 0.9;
const DAY_MS = 86_400_000;

/** A probe: whether it is heard, how its machine is, and what is wrong. */
export function ProbeCard({ probe }: { readonly probe: Probe }) {
  const { health } = probe;
  return (
    <article className={styles["card"]} data-state={probe.state}>
      <header><h3><Foreign text={probe.name} longest={80} /></h3><Mark tone={TONES[probe.state]}>{probe.state}</Mark></header>
      <p className={styles["soft"]}>
        {probe.version === "" ? "has never connected" : <>version <Foreign text={probe.version} longest={40} />, heard <Moment at={probe.last_heard_at} /></>}
        {health && <>, watches <code><Foreign text={health.interface.name} longest={20} /></code>{health.interface.up ? "" : " (down)"}</>}
      </p>
      {health && (
        <div className={styles["bars"]}>
          <Bar label="Processor" share={health.cpu_percent / 100} text={percent(health.cpu_percent / 100)} />
          <Bar label="Memory" share={1 - health.memory.available_bytes / Math.max(1, health.memory.total_bytes)} text={`${formatSize(health.memory.rss_bytes)} its own`} />
          <Bar label="Disk" share={1 - health.disk.free_bytes / Math.max(1, health.disk.total_bytes)} text={`${formatSize(health.disk.free_bytes)} free`} />
        </div>
      )}
      <ul className={styles["problems"]}>{problemsOf(probe).map((problem) => <li key={problem}><Foreign text={problem} longest={300} /></li>)}</ul>
      {health && <p className={styles["soft"]}>{health.hosts.online.toLocaleString("en")} of {health.hosts.known.toLocaleString("en")} hosts online, {health.queue.events.toLocaleString("en")} events queued</p>}
    </article>
  );
}

function problemsOf({ health, configuration, refused, certificate_expires_at: expiresAt, last_heard_at: heardAt, state }: Probe): readonly string[] {
  const refusals = Object.entries(refused).filter(([, count]) => count > 0).map(([reason, count]) => `${count} × ${reason}`);
  const dropped = health?.capture.dropped ?? 0;
  const lost = health?.queue.dropped ?? 0;
  const isExpiring = state !== "revoked" && heardAt !== null && Date.parse(expiresAt) - Date.parse(heardAt) < 7 * DAY_MS;
  return [
    ...(configuration.error === null ? [] : [`It refused its configuration: ${configuration.error}`]),
    ...(dropped > 0 ? [`${dropped.toLocaleString("en")} frames were dropped: give it a faster processor, or less to see.`] : []),
    ...(lost > 0 ? [`${lost.toLocaleString("en")} events were lost: its disk budget is spent while the collector is away.`] : []),
    ...(refusals.length > 0 ? [`The collector refused payloads: ${refusals.join(", ")}`] : []),
    ...(isExpiring ? ["Its certificate ends within a week, and was not renewed: look at its clock and its way to the collector."] : []),
  ];
}

function Bar({ label, share, text }: { readonly label: string; readonly share: number; readonly text: string }) {
  const bounded = Math.min(1, Math.max(0, share));
  return (
    <div className={styles["bar"]} data-full={bounded >= FULL}>
      <span>{label}</span><meter min={0} max={1} high={FULL} optimum={0} value={bounded} aria-label={label} /><span>{text}</span>
    </div>
  );
}

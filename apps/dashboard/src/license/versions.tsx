import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import styles from "./license.module.css";

/** Which versions run: the collector's, and those that probes reported last. */
export function Versions() {
  const { rest } = useSession();
  const health = useQuery({ queryKey: ["health"], queryFn: () => rest.readHealth() });
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  return (
    <Panel title="Versions" actions={<Link to="/sites">Sites and probes</Link>}>
      <ul className={styles["versions"]}>
        <li><span>Collector</span><Answer query={health}>{({ version }) => <code><Foreign text={version} longest={60} /></code>}</Answer></li>
      </ul>
      <Answer query={probes}>
        {({ data }) => (
          <ul className={styles["versions"]}>
            {countVersions(data).map(([version, number]) => (
              <li key={version}><span>{count(number, "probe")}</span>{version === "" ? "never connected" : <code><Foreign text={version} longest={60} /></code>}</li>
            ))}
          </ul>
        )}
      </Answer>
      <p className={styles["soft"]}>Lanthorn is free software under the Apache License, version 2.0.</p>
    </Panel>
  );
}

/** How many probes run each version, the most frequent first. */
function countVersions(probes: readonly { readonly version: string; readonly state: string }[]): readonly (readonly [version: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { version, state } of probes) if (state !== "revoked") counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts].toSorted(([one, first], [other, second]) => second - first || one.localeCompare(other));
}

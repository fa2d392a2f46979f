import type { DeviceProfile, SimilarDevice } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Panel } from "../../parts/page.tsx";
import { useMay, useSession } from "../../session/use-session.ts";
import { Answer } from "../../states/answer.tsx";
import { deviceName } from "../../texts/device-name.ts";
import { Foreign, showForeign } from "../../texts/foreign.tsx";
import { Moment } from "../../texts/moment.tsx";
import { percent } from "../../texts/percent.ts";
import { MergeDialog } from "./merge-dialog.tsx";
import styles from "./sameness.module.css";
import { SplitDialog } from "./split-dialog.tsx";

/** Devices of one machine: those that may be this one, and those that were merged into it, each with the reasons. */
export function Sameness({ device }: { readonly device: DeviceProfile }) {
  const { rest } = useSession();
  const mayWrite = useMay("devices:write");
  const [merging, setMerging] = useState<SimilarDevice["device"] | null>(null);
  const [splitting, setSplitting] = useState<DeviceProfile["merges"][number] | "interfaces" | null>(null);
  const similar = useQuery({ queryKey: ["device", device.id, "similar"], queryFn: () => rest.listSimilarDevices(device.id, { per_page: 20 }) });
  const macs = device.interfaces.filter(({ mac }) => mac !== "");
  return (
    <Panel title="Is it one machine?" actions={mayWrite && macs.length > 1 && <Button onClick={() => setSplitting("interfaces")}>Split interfaces off</Button>}>
      <Answer query={similar}>
        {({ data }) => (data.length === 0 ? <p className={styles["soft"]}>No other device looks like it.</p> : (
          <>
            <h3>It may be the same as</h3>
            <ul className={styles["list"]}>
              {data.map(({ device: other, score, reasons }) => (
                <li key={other.id}>
                  <div>
                    <Link to="/devices/$deviceId" params={{ deviceId: other.id }}><Foreign text={deviceName(other)} longest={60} /></Link> <span className={styles["soft"]}>{percent(score)} likely</span>
                    <small>{reasons.map(({ trait, value }) => `${TRAITS[trait]} ${showForeign(value, 80)}`).join(", ")}</small>
                  </div>
                  {mayWrite && <Button onClick={() => setMerging(other)} aria-label={`Merge with ${showForeign(deviceName(other), 60)}`}>Merge…</Button>}
                </li>
              ))}
            </ul>
          </>
        ))}
      </Answer>
      {device.merges.length > 0 && (
        <>
          <h3>Merged into it</h3>
          <ul className={styles["list"]}>
            {device.merges.map((merge) => (
              <li key={merge.id}>
                <div>
                  <Moment at={merge.at} /> by <Foreign text={merge.by.name || "the collector"} longest={60} />
                  <small>{merge.by.type === "user" ? "somebody said so" : merge.reasons.map(({ key, source }) => `${showForeign(key, 120)} (${showForeign(source, 40)})`).join(", ")}</small>
                </div>
                {mayWrite && <Button onClick={() => setSplitting(merge)}>Split again…</Button>}
              </li>
            ))}
          </ul>
        </>
      )}
      {merging && <MergeDialog device={device} other={merging} onClose={() => setMerging(null)} />}
      {splitting && <SplitDialog device={device} of={splitting} onClose={() => setSplitting(null)} />}
    </Panel>
  );
}

const TRAITS: Readonly<Record<SimilarDevice["reasons"][number]["trait"], string>> = {
  key: "the same key", hostname: "the name", ip: "the address", random_mac: "a random MAC address", vendor: "the vendor",
};

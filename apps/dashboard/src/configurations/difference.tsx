import type { ConfigDiff } from "@lanthorn/contract";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";
import styles from "./configurations.module.css";

/** More lines are read in a file, not on a page. */
const MAX_LINES = 2000;
const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "place" };

/** What differs between two versions. Secrets are shown to who may see them, and the audit log says to whom. */
export function Difference({ deviceId, from, to }: { readonly deviceId: string; readonly from: string | undefined; readonly to: string | undefined }) {
  const { rest } = useSession();
  const mayReveal = useMay("vault:reveal");
  const difference = useQuery({ queryKey: ["configurations", deviceId, "difference", from, to], queryFn: () => rest.compareDeviceConfigurations(deviceId, { from, to }) });
  const reveal = useMutation({
    mutationFn: ({ from: older, to: newer }: Pick<ConfigDiff, "from" | "to">) => rest.revealDeviceConfigurationDiff(deviceId, { from: older, to: newer }), gcTime: 0,
  });
  const known = difference.data;
  const isRevealed = reveal.data !== undefined && reveal.data.from === known?.from && reveal.data.to === known.to;
  return (
    <Panel
      title={known ? `From version ${known.from} to ${known.to}` : "What differs"} isFlush
      actions={known && mayReveal && !isRevealed && <Button onClick={() => reveal.mutate(known)} disabled={reveal.isPending} title="The audit log keeps that you have seen them">Show secrets</Button>}
    >
      {reveal.isError && <ErrorNote error={reveal.error} />}
      <Answer query={difference}>{(hidden) => <Lines of={isRevealed && reveal.data ? reveal.data : hidden} />}</Answer>
    </Panel>
  );
}

function Lines({ of: { diff } }: { readonly of: ConfigDiff }) {
  if (diff === "") return <p className={styles["same"]}>Nothing differs.</p>;
  // The first two lines name the versions, as the heading does.
  const lines = diff.trimEnd().split("\n").slice(2);
  return (
    <pre className={styles["diff"]}>
      {lines.slice(0, MAX_LINES).map((line, at) => <span key={at} data-kind={KINDS[line[0] ?? ""]}>{showForeign(line, 1000)}{"\n"}</span>)}
      {lines.length > MAX_LINES && <span data-kind="place">{`${lines.length - MAX_LINES} more lines`}</span>}
    </pre>
  );
}

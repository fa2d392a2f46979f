import type { Backup, BackupSettings } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Facts } from "../fields/facts.tsx";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { UNDERWAY_MS } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { formatMoment, Moment } from "../texts/moment.tsx";
import { useZone } from "../texts/zone.tsx";
import { formatSize } from "../texts/size.ts";
import styles from "./backups-page.module.css";
import { ScheduleDialog } from "./schedule-dialog.tsx";
import { VerifyDialog } from "./verify-dialog.tsx";

const TONES = { running: "warn", completed: "good", failed: "bad", passed: "good" } as const;

/** Backups of the whole deployment: made, looked at, and what the schedule is. */
export function BackupsPage() {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("backups:write");
  const [isScheduling, setScheduling] = useState(false);
  const settings = useQuery({ queryKey: ["backups", "settings"], queryFn: () => rest.readBackupSettings() });
  const backups = useQuery({
    queryKey: ["backups", "list"], queryFn: () => rest.listBackups({ per_page: 100 }),
    refetchInterval: ({ state: { data } }) => (data?.data.some(({ status, verification }) => status === "running" || verification?.status === "running") ? UNDERWAY_MS : false),
  });
  const start = useMutation({ mutationFn: () => rest.startBackup(), onSuccess: () => queries.invalidateQueries({ queryKey: ["backups"] }) });
  const { mutate } = start;
  const begin = useCallback(() => mutate(), [mutate]);
  const canMake = mayWrite && (settings.data?.recipients.length ?? 0) > 0;
  useCommands(useMemo((): readonly Command[] => (canMake ? [
    { id: "make backup", title: "Make a backup now", group: "This page", keys: "n", run: begin },
  ] : []), [canMake, begin]));
  return (
    <Page
      trail="Settings" title="Backups" note="Copies of the whole deployment, which only the operator's private key opens."
      actions={mayWrite && (
        <>
          <Button onClick={() => setScheduling(true)} disabled={!settings.data}>Schedule</Button>
          <Button kind="primary" onClick={begin} disabled={!canMake || start.isPending}>Make a backup now</Button>
        </>
      )}
    >
      {isScheduling && settings.data && <ScheduleDialog settings={settings.data} onClose={() => setScheduling(false)} />}
      {start.isError && <ErrorNote error={start.error} />}
      <Panel title="Schedule"><Answer query={settings}>{(known) => <Schedule settings={known} />}</Answer></Panel>
      <Panel title={backups.data ? count(backups.data.meta.total, "backup") : "Backups"} isFlush>
        <Answer query={backups}>
          {({ data }) => (data.length === 0 ? <Empty title="No backups yet">{canMake ? "Make one now, or set a schedule." : "None was made."}</Empty> : <BackupsTable backups={data} mayWrite={mayWrite} />)}
        </Answer>
      </Panel>
    </Page>
  );
}

function Schedule({ settings: { schedule, next_at: next, keep, recipients, fixed } }: { readonly settings: BackupSettings }) {
  const zone = useZone();
  return (
    <div className={styles["schedule"]}>
      <Facts of={[
        ["Schedule", schedule === null ? "by hand only" : <code key="schedule">{schedule}</code>], ["Next", next === null ? "–" : formatMoment(next, zone)], ["Kept", `the last ${keep}`],
        ["Encrypted to", recipients.length === 0 ? "no key" : count(recipients.length, "key")],
      ]}
      />
      {recipients.length === 0
        ? <p>No backup can be made before a public key is set on the collector's machine, in <code>backups.recipients</code> of its configuration.</p>
        : <ul>{recipients.map((key) => <li key={key}><code>{key}</code></li>)}</ul>}
      {fixed.length > 0 && <p>The collector's configuration file sets: {fixed.join(", ")}. It is changed there.</p>}
    </div>
  );
}

function BackupsTable({ backups, mayWrite }: { readonly backups: readonly Backup[]; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const [verifying, setVerifying] = useState<Backup | null>(null);
  return (
    <>
      {verifying && <VerifyDialog backup={verifying} onClose={() => setVerifying(null)} />}
      <Table heads={["Made", "State", "By", "Content", "Verified", mayWrite && "Action"]}>
        {backups.map((backup) => (
          <tr key={backup.id}>
            <td><Moment at={backup.created_at} exact /></td>
            <td><Mark tone={TONES[backup.status]}>{backup.status}</Mark>{backup.error !== null && <p className={styles["problem"]}><Foreign text={backup.error} longest={300} /></p>}</td>
            <td>{backup.trigger === "scheduled" ? "schedule" : <Foreign text={backup.requested_by} longest={60} />}</td>
            <td>{backup.size_bytes === null ? "–" : `${formatSize(backup.size_bytes)}, ${(backup.rows ?? 0).toLocaleString("en")} rows`}{!backup.available && <p className={styles["problem"]}>The file is not at this collector.</p>}</td>
            <td><Verification of={backup.verification} /></td>
            {mayWrite && (
              <td>
                {backup.status === "completed" && <Button onClick={() => setVerifying(backup)}>Verify…</Button>}{" "}
                {backup.status !== "running" && <RemoveButton of={`the backup of ${backup.created_at.slice(0, 16)}`} then="Its file is deleted with it." keys={["backups"]} remove={() => rest.deleteBackup(backup.id)} />}
              </td>
            )}
          </tr>
        ))}
      </Table>
    </>
  );
}

function Verification({ of }: { readonly of: Backup["verification"] }) {
  if (of === null) return <>not yet</>;
  return (
    <>
      <Mark tone={TONES[of.status]}>{of.status}</Mark> {of.method === "restore" ? "restored on trial" : "checksum"}, <Moment at={of.at} />
      {of.error !== null && <p className={styles["problem"]}><Foreign text={of.error} longest={300} /></p>}
    </>
  );
}

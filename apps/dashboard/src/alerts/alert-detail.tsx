import type { Alert, List } from "@lanthorn/contract";
import { type InfiniteData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { CapturesOf } from "../captures/captures-of.tsx";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { kindName } from "../texts/words.ts";
import { AtSite } from "../texts/zone.tsx";
import styles from "./alert-detail.module.css";
import { AlertHistory } from "./alert-history.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { Evidence } from "./evidence.tsx";
import { MuteDialog } from "./mute-dialog.tsx";

const route = getRouteApi("/alerts/$alertId");

/** One alert: what happened, what to do, what shows it, and what can be done with it. */
export function AlertDetail() {
  const { rest } = useSession();
  const { alertId } = route.useParams();
  const queries = useQueryClient();
  const alert = useQuery({
    queryKey: ["alert", alertId], queryFn: () => rest.readAlert(alertId),
    // As the list has it, so that it is read and keys work at once; its packets follow.
    placeholderData: () => queries.getQueriesData<InfiniteData<List<Alert>>>({ queryKey: ["alerts", "list"] })
      .flatMap(([, pages]) => pages?.pages ?? []).flatMap(({ data }) => data).find(({ id }) => id === alertId),
  });
  return <Answer query={alert}>{(known) => <AtSite siteId={known.site_id}><Detail key={known.id} alert={known} /></AtSite>}</Answer>;
}

function Detail({ alert }: { readonly alert: Alert }) {
  const sites = useSites();
  const mayWrite = useMay("alerts:write");
  const site = sites.data?.data.find(({ id }) => id === alert.site_id)?.name;
  return (
    <article className={styles["alert"]}>
      <p className={styles["back"]}><Link to="/alerts" search={(before) => before}>All alerts</Link></p>
      <header className={styles["head"]}>
        <p className={styles["marks"]}>
          <SeverityMark severity={alert.severity} />
          <Mark tone={alert.status === "resolved" ? "good" : alert.status === "open" ? "warn" : "calm"}>{alert.status}</Mark>
          {alert.muted && <Mark tone="calm">muted</Mark>}
          {alert.mitre_techniques.map((technique) => <Mark key={technique} tone="calm">{technique}</Mark>)}
        </p>
        <h2><Foreign text={alert.title} /></h2>
      </header>
      {mayWrite && <Actions alert={alert} />}
      <p className={styles["text"]}><Foreign text={alert.description} longest={4000} /></p>
      <dl className={styles["facts"]}>
        <Fact name="Device">
          {alert.device_id === null ? (alert.device_ip === "" ? "none" : <code>{alert.device_ip}</code>)
            : <Link to="/devices/$deviceId" params={{ deviceId: alert.device_id }}><code>{alert.device_ip || "the device"}</code></Link>}
        </Fact>
        <Fact name="Site">{site === undefined ? "none" : <Foreign text={site} longest={80} />}</Fact>
        <Fact name="First seen"><Moment at={alert.first_seen} exact /></Fact>
        <Fact name="Last seen"><Moment at={alert.last_seen} exact />{alert.count > 1 && `, ${alert.count} times`}</Fact>
        <Fact name="Kind">{kindName(alert.type)}</Fact>
        <Fact name="Source">{alert.source}</Fact>
        <Fact name="Subject"><code><Foreign text={alert.subject} longest={120} /></code></Fact>
        {alert.acknowledged_by !== null && <Fact name="Acknowledged"><Foreign text={alert.acknowledged_by} longest={80} />, <Moment at={alert.acknowledged_at} /></Fact>}
        {alert.resolved_by !== null && <Fact name="Resolved"><Foreign text={alert.resolved_by} longest={80} />, <Moment at={alert.resolved_at} /></Fact>}
      </dl>
      <CapturesOf of={{ alert_id: alert.id }}>{(list) => <section className={styles["captures"]}><h3>Captures</h3>{list}</section>}</CapturesOf>
      <Evidence events={alert.evidence} />
      <AlertHistory alertId={alert.id} />
    </article>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function Actions({ alert }: { readonly alert: Alert }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const [isMuting, setMuting] = useState(false);
  const [isNoting, setNoting] = useState(false);
  const act = useMutation({
    // The alert is given with what is done: a key may be pressed before a new one is known here.
    mutationFn: ({ id, what }: { readonly id: string; readonly what: "acknowledge" | "resolve" }) => (what === "acknowledge" ? rest.acknowledgeAlert(id) : rest.resolveAlert(id)),
    async onSuccess(changed) {
      // What was asked for before it changed must not come after it.
      await queries.cancelQueries({ queryKey: ["alert", changed.id] });
      queries.setQueryData(["alert", changed.id], changed);
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      void queries.invalidateQueries({ queryKey: ["alert", changed.id, "history"] });
    },
  });
  const can = { acknowledge: alert.status === "open", resolve: alert.status !== "resolved" };
  const decide = (what: "acknowledge" | "resolve") => act.mutate({ id: alert.id, what });
  const latest = useRef({ decide, can });
  useLayoutEffect(() => {
    latest.current = { decide, can };
  });
  useCommands(useMemo((): readonly Command[] => {
    const run = (what: "acknowledge" | "resolve") => () => {
      if (latest.current.can[what]) latest.current.decide(what);
    };
    return [
      { id: "acknowledge", title: "Acknowledge the alert", group: "This page", keys: "e", run: run("acknowledge") },
      { id: "resolve", title: "Resolve the alert", group: "This page", keys: "r", run: run("resolve") },
      { id: "mute", title: "Mute alerts like this", group: "This page", keys: "m", run: () => setMuting(true) },
      { id: "note", title: "Acknowledge, resolve or mute with a note", group: "This page", keys: "n", run: () => setNoting(true) },
    ];
  }, []));
  return (
    <div className={styles["actions"]}>
      <Button kind="primary" disabled={!can.acknowledge || act.isPending} onClick={() => decide("acknowledge")}>Acknowledge</Button>
      <Button disabled={!can.resolve || act.isPending} onClick={() => decide("resolve")}>Resolve</Button>
      <Button onClick={() => setMuting(true)}>Mute…</Button>
      <Button onClick={() => setNoting(true)}>With a note…</Button>
      {act.isError && <ErrorNote error={act.error} />}
      {isNoting && <BulkDialog of={{ id: alert.id, status: alert.status }} onClose={() => setNoting(false)} />}
      {isMuting && <MuteDialog alert={alert} onClose={() => setMuting(false)} />}
    </div>
  );
}

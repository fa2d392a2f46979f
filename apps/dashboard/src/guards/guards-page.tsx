import type { ProbeGuards, SiteGuards, SiteGuardsUpdate } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { AlertList } from "../sensors/alert-list.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment, useNow } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import { Exceptions } from "./exceptions.tsx";

const route = getRouteApi("/sensors/guards");

/** What watches the network for attacks, what it found, and who touched a decoy. */
export function GuardsPage() {
  const { site_id: chosen } = route.useSearch();
  const sites = useSites();
  const site = sites.data?.data.find(({ id }) => id === chosen) ?? sites.data?.data[0];
  return (
    <Page title="Guards and decoys" note="Guards watch for attacks on the network itself. Decoys serve nobody: who touches one is an alert.">
      <SensorTabs />
      <div className={styles["two"]}>
        <AlertList source="rogue" siteId={chosen} title="What guards found" nothing="No attack on the network was seen." />
        <AlertList source="honeypot" siteId={chosen} title="Who touched a decoy" nothing="Nobody did, or no decoy is served: lanthorn-decoy on a probe's machine." />
      </div>
      <Answer query={sites}>{() => (site === undefined ? <Empty title="No site yet" /> : <SitePanels key={site.id} siteId={site.id} name={site.name} />)}</Answer>
    </Page>
  );
}

function SitePanels({ siteId, name }: { readonly siteId: string; readonly name: string }) {
  const { rest } = useSession();
  const guards = useQuery({ queryKey: ["guards", siteId], queryFn: () => rest.readSiteGuards(siteId) });
  return (
    <>
      <Panel title={<>Guards of <bdi><Foreign text={name} longest={80} /></bdi></>}>
        <Answer query={guards}>{(known) => <Settings guards={known} />}</Answer>
      </Panel>
      {guards.data && <Probes siteId={siteId} probes={guards.data.probes} />}
      <Exceptions siteId={siteId} />
    </>
  );
}

function Settings({ guards }: { readonly guards: SiteGuards }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("agents:write");
  const change = useMutation({ mutationFn: (body: SiteGuardsUpdate) => rest.updateSiteGuards(guards.site_id, body), onSuccess: (changed) => queries.setQueryData(["guards", guards.site_id], changed) });
  const boxes = [
    ["enabled", "Watch for attacks on the network"], ["active", "Check a first hint by packets to the hosts that it is about"], ["roaming_gateways", "The gateway's MAC address changes with the access point"],
  ] as const;
  return (
    <>
      <div className={styles["settings"]}>
        {boxes.map(([field, text]) => (
          <label key={field}><input type="checkbox" checked={guards[field]} disabled={!mayWrite || change.isPending} onChange={(event) => change.mutate({ [field]: event.target.checked })} />{text}</label>
        ))}
      </div>
      {change.isError && <ErrorNote error={change.error} />}
    </>
  );
}

function Probes({ siteId, probes }: { readonly siteId: string; readonly probes: readonly ProbeGuards[] }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("agents:write");
  const learn = useMutation({ mutationFn: () => rest.learnSiteGuards(siteId), onSuccess: () => queries.invalidateQueries({ queryKey: ["guards", siteId] }) });
  return (
    <Panel title="Its probes" isFlush actions={mayWrite && probes.length > 0 && <Button onClick={() => learn.mutate()} disabled={learn.isPending}>Learn anew what is normal</Button>}>
      {learn.isError && <ErrorNote error={learn.error} />}
      {probes.length === 0 ? <Empty title="No probe yet" /> : (
        <Table heads={["Probe", "Guards", "How", "Learning"]}>
          {probes.map((probe) => (
            <tr key={probe.probe_id}>
              <td className={styles["name"]}><strong><Foreign text={probe.name} longest={80} /></strong></td>
              <td><Mark tone={!probe.is_online ? "warn" : probe.state?.enabled ? "good" : "calm"}>{!probe.is_online ? "the probe is away" : probe.state === null ? "not reported" : probe.state.enabled ? "watching" : "off"}</Mark></td>
              <td>{probe.state === null ? "–" : probe.state.active ? "checks hints itself" : "only listens"}</td>
              <td><Learning probe={probe} /></td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

function Learning({ probe: { state, learning } }: { readonly probe: ProbeGuards }) {
  const nowMs = useNow();
  const until = state?.learning_until ?? null;
  return (
    <>
      {until === null ? "–" : Date.parse(until) > nowMs ? <Mark tone="warn">learns what is normal</Mark> : <>done, <Moment at={until} /></>}
      {learning !== null && <p className={styles["soft"]}>Asked <Moment at={learning.asked_at} /> by <Foreign text={learning.asked_by} longest={60} />: {words(learning.status)}{learning.error !== null && <>: <Foreign text={learning.error} /></>}</p>}
    </>
  );
}

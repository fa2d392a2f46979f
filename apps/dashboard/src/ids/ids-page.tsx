import type { IdsStats, IdsSuppressionRecord } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Choose } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { AlertList } from "../sensors/alert-list.tsx";
import { RemoveButton } from "../states/removal.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";
import { Tiles } from "../sensors/tiles.tsx";

const route = getRouteApi("/sensors/ids");
const PERIODS = { 1: "Today", "": "A week", 30: "30 days", 90: "90 days" };

/** What intrusion rules have found, which are noisy, and what is kept silent. */
export function IdsPage() {
  const { rest } = useSession();
  const { site_id, days } = route.useSearch();
  const navigate = route.useNavigate();
  const stats = useQuery({ queryKey: ["ids", "stats", site_id, days], queryFn: () => rest.readIdsStats({ site_id, days }) });
  return (
    <Page
      title="Intrusions" note="What rules in Suricata's language find in the traffic that probes read."
      actions={<span className={filters["filters"]}><Choose label="Period" value={days} options={PERIODS} onChange={(value) => void navigate({ search: (before) => ({ ...before, days: value || undefined }), replace: true })} /></span>}
    >
      <SensorTabs />
      <Answer query={stats}>
        {(known) => (
          <>
            <Tiles of={[["Matches", known.alerts], ["Suppressed", known.suppressed], ["Would be blocked", known.would_block, "by rules that ask for it"]]} />
            {known.is_first_week && known.alerts > 0 && <p className={styles["warning"]}>This is the first week: the time to suppress what is normal here.</p>}
            <Noisiest stats={known} />
          </>
        )}
      </Answer>
      <AlertList source="ids" siteId={site_id} title="Newest findings" nothing="No rule has matched, or no probe reads traffic with rules yet." />
      <Suppressions siteId={site_id} />
    </Page>
  );
}

function Noisiest({ stats }: { readonly stats: IdsStats }) {
  const mayWrite = useMay("sensors:write");
  if (stats.noisiest.length === 0) return null;
  return (
    <Panel title="Rules that match most" isFlush>
      <Table heads={["Rule", "Matches", "Share", "Hosts", "Silent", mayWrite && "Action"]}>
        {stats.noisiest.map((rule) => (
          <tr key={`${rule.generator_id}:${rule.signature_id}`}>
            <td className={styles["name"]}><Link to="/sensors/ids/rules" search={{ signature_id: String(rule.signature_id) }}><Foreign text={rule.signature} longest={160} /></Link><br /><span className={styles["soft"]}><Foreign text={[rule.signature_id, rule.category].filter(Boolean).join(" · ")} longest={80} /></span></td>
            <td>{rule.alerts.toLocaleString("en")}</td><td><meter className={styles["share"]} min={0} max={1} value={rule.share} aria-label="Of all that was not silent" /></td>
            <td>{rule.hosts.toLocaleString("en")}</td><td>{rule.suppressed.toLocaleString("en")}</td>
            {mayWrite && <td>{rule.suggestion !== null && <Suppress suggestion={rule.suggestion} />}</td>}
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Suppress({ suggestion }: { readonly suggestion: NonNullable<IdsStats["noisiest"][number]["suggestion"]> }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const act = useMutation({ mutationFn: () => rest.createIdsSuppression(suggestion), onSuccess: () => queries.invalidateQueries({ queryKey: ["ids"] }) });
  if (act.data) return <span role="status">silent from now on</span>;
  return (
    <>
      <Button onClick={() => act.mutate()} disabled={act.isPending} aria-label={`Suppress rule ${suggestion.signature_id}${suggestion.network === undefined ? "" : ` for ${suggestion.network}`}`}>Suppress{suggestion.network !== undefined && ` for ${suggestion.network}`}</Button>
      {act.isError && <ErrorNote error={act.error} />}
    </>
  );
}

function Suppressions({ siteId }: { readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const mayWrite = useMay("sensors:write");
  const suppressions = useQuery({ queryKey: ["ids", "suppressions", siteId], queryFn: () => rest.listIdsSuppressions({ site_id: siteId, per_page: 1000 }) });
  return (
    <Panel title="Suppressed" isFlush>
      <Answer query={suppressions}>
        {({ data }) => (data.length === 0 ? <Nothing>No rule is suppressed.</Nothing> : (
          <Table heads={["What", "Why", "Matched", "Ends", mayWrite && "Action"]}>
            {data.map((one) => (
              <tr key={one.id}>
                <td className={styles["name"]}><Foreign text={partsOf(one)} /></td>
                <td><Foreign text={one.reason} /><br /><span className={styles["soft"]}><Foreign text={one.created_by} longest={60} />, <Moment at={one.created_at} /></span></td>
                <td>{one.hits.toLocaleString("en")} times{one.last_hit_at !== null && <>, <Moment at={one.last_hit_at} /></>}</td>
                <td>{one.expires_at === null ? "no end" : <Moment at={one.expires_at} />}</td>
                {mayWrite && <td><RemoveButton of={partsOf(one)} then="What it kept silent raises alerts again." keys={["ids"]} remove={() => rest.deleteIdsSuppression(one.id)} /></td>}
              </tr>
            ))}
          </Table>
        ))}
      </Answer>
    </Panel>
  );
}

function partsOf(one: IdsSuppressionRecord): string {
  return [
    one.signature_id === null ? "" : `rule ${one.signature_id}`, one.category ?? "", one.source === null ? "" : `from ${one.source}`, one.destination === null ? "" : `to ${one.destination}`,
    one.network === null ? "" : `at ${one.network}`, one.device_id === null ? "" : "of one device",
  ].filter(Boolean).join(", ");
}

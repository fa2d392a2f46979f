import type { Probe, Site } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer, Empty } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { showForeign } from "../texts/foreign.tsx";
import { EnrollDialog } from "./enroll-dialog.tsx";
import { ProbeCard } from "./probe-card.tsx";
import { SiteDialog } from "./site-dialog.tsx";
import styles from "./sites-page.module.css";

/** Sites with their probes, and how these are. */
export function SitesPage() {
  const { rest } = useSession();
  const sites = useSites();
  const chosen = useSearch({ strict: false, select: ({ site_id }) => site_id });
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  const mayWrite = useMay("agents:write");
  const [dialog, setDialog] = useState<{ readonly site: Site | null } | { readonly siteId: string } | null>(null);
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add site", title: "Add a site", group: "This page", run: () => setDialog({ site: null }) },
    { id: "enroll", title: "Enroll a probe", group: "This page", keys: "n", run: () => setDialog({ siteId: chosen ?? "" }) },
  ] : []), [mayWrite, chosen]));
  const shown = sites.data?.data.filter(({ id }) => chosen === undefined || id === chosen) ?? [];
  return (
    <Page
      title="Sites and probes" note={sites.data && probes.data && `${count(sites.data.meta.total, "site")}, ${count(probes.data.meta.total, "probe")}`}
      actions={mayWrite && (
        <>
          <Button onClick={() => setDialog({ site: null })}><Icon name="plus" />Add a site</Button>
          <Button kind="primary" onClick={() => setDialog({ siteId: chosen ?? "" })}><Icon name="plus" />Enroll a probe</Button>
        </>
      )}
    >
      {dialog && "site" in dialog && <SiteDialog site={dialog.site} onClose={() => setDialog(null)} />}
      {dialog && "siteId" in dialog && <EnrollDialog siteId={dialog.siteId} sites={sites.data?.data ?? []} onClose={() => setDialog(null)} />}
      <Answer query={sites}>
        {() => <Answer query={probes}>{({ data }) => <>{shown.map((site) => (
          <SitePanel
            key={site.id} site={site} probes={data.filter(({ site_id }) => site_id === site.id)}
            onEnroll={mayWrite ? () => setDialog({ siteId: site.id }) : null} onChange={mayWrite ? () => setDialog({ site }) : null}
          />
        ))}</>}</Answer>}
      </Answer>
    </Page>
  );
}

function SitePanel({ site, probes, onEnroll, onChange }: {
  readonly site: Site; readonly probes: readonly Probe[]; readonly onEnroll: (() => void) | null; readonly onChange: (() => void) | null;
}) {
  const own = probes.toSorted((one, other) => Number(one.state === "revoked") - Number(other.state === "revoked") || one.name.localeCompare(other.name));
  return (
    <Panel
      title={<bdi>{showForeign(site.name, 80)}</bdi>}
      actions={(
        <div className={styles["acts"]}>
          {site.time_zone !== null && <span>{site.time_zone}</span>}
          {onChange && <Button aria-label={`Change ${showForeign(site.name, 80)}`} onClick={onChange}>Change</Button>}
          <Link to="/devices" search={{ site_id: site.id }}>Devices</Link>
        </div>
      )}
    >
      {own.length === 0 ? (
        <Empty title="No probe yet">{onEnroll === null ? "An administrator enrolls one." : <Button onClick={onEnroll}>Enroll its first probe</Button>}</Empty>
      ) : <div className={styles["probes"]}>{own.map((probe) => <ProbeCard key={probe.id} probe={probe} />)}</div>}
    </Panel>
  );
}

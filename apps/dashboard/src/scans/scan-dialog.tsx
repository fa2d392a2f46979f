import { SCAN_PROFILE_NAMES, SCAN_PROFILES, type ScanProfileName, type ScanStart } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";
import { ScanPreview } from "./scan-preview.tsx";

/** Starts a scan, and goes to its page. Before that it says what will be sent where. */
export function ScanDialog({ given = "", onClose }: { readonly given?: string; readonly onClose: () => void }) {
  const { rest } = useSession();
  const [queries, navigate, ids] = [useQueryClient(), useNavigate(), { target: useId(), profile: useId(), site: useId() }];
  const chosen = useSearch({ strict: false, select: ({ site_id: siteId }) => siteId });
  const sites = useSites().data?.data ?? [];
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) }).data?.data ?? [];
  const [wanted, setWanted] = useState<{ readonly target: string; readonly profile: ScanProfileName; readonly siteId: string | undefined }>({
    target: given, profile: "standard", siteId: chosen,
  });
  const site = sites.find(({ id }) => id === wanted.siteId) ?? sites[0];
  const own = probes.filter(({ site_id: siteId, state }) => siteId === site?.id && state !== "revoked");
  const start = useMutation({
    mutationFn: (body: ScanStart) => rest.startScan(body),
    onSuccess(scan) {
      void queries.invalidateQueries({ queryKey: ["scans"] });
      onClose();
      void navigate({ to: "/scans/$scanId", params: { scanId: scan.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate({ target: wanted.target.trim(), profile: wanted.profile, site_id: site?.id });
  };
  return (
    <Dialog title="Start a scan" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.target}>Address or network</label>
        <input
          id={ids.target} required maxLength={64} spellCheck={false} autoComplete="off" list={`${ids.target}-own`} placeholder="10.0.0.0/24"
          value={wanted.target} onChange={(event) => setWanted({ ...wanted, target: event.target.value })}
        />
        <datalist id={`${ids.target}-own`}>
          {[...new Set([...own.flatMap(({ health }) => health?.interface.networks ?? []), ...(site?.scan_networks ?? [])])].map((text) => <option key={text} value={text} />)}
        </datalist>
        <label htmlFor={ids.profile}>How thorough</label>
        <select id={ids.profile} value={wanted.profile} onChange={(event) => setWanted({ ...wanted, profile: event.target.value as ScanProfileName })}>
          {SCAN_PROFILE_NAMES.map((name) => <option key={name} value={name}>{name}: {SCAN_PROFILES[name].description}</option>)}
        </select>
        {sites.length > 1 && (
          <>
            <label htmlFor={ids.site}>Site</label>
            <select id={ids.site} value={site?.id} onChange={(event) => setWanted({ ...wanted, siteId: event.target.value })}>
              {sites.map(({ id, name }) => <option key={id} value={id}>{showForeign(name, 80)}</option>)}
            </select>
          </>
        )}
        <ScanPreview target={wanted.target} profile={wanted.profile} site={site} probes={own} />
        {start.isError && <ErrorNote error={start.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={start.isPending}>Start the scan</Button>
        </div>
      </form>
    </Dialog>
  );
}

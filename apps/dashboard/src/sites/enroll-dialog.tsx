import type { EnrollmentToken, Site } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId } from "react";
import { Button } from "../parts/button.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { UNDERWAY_MS } from "../states/use-list.ts";
import { showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

const LIVES = { 3600: "an hour", 86_400: "a day", 604_800: "a week" };
/** Where the collector listens with TLS unless it is told otherwise. */
const HTTPS_PORT = 8443;

/** Makes a token and shows the one command for the probe's machine; then waits until the probe is enrolled. */
export function EnrollDialog({ siteId, sites, onClose }: { readonly siteId: string; readonly sites: readonly Site[]; readonly onClose: () => void }) {
  const { rest } = useSession();
  const ids = { site: useId(), life: useId() };
  const create = useMutation({
    mutationFn: ({ site = "", life = "3600" }: Readonly<Record<string, string>>) => rest.createEnrollmentToken({ site_id: site, ttl_seconds: Number(life) }),
  });
  const submit = withForm(create.mutate);
  return (
    <Dialog title="Enroll a probe" onClose={onClose}>
      {create.data ? <Waiting token={create.data} onClose={onClose} /> : (
        <form className={form["form"]} onSubmit={submit}>
          <label htmlFor={ids.site}>Site</label>
          <select id={ids.site} name="site" defaultValue={siteId}>{sites.map(({ id, name }) => <option key={id} value={id}>{showForeign(name, 80)}</option>)}</select>
          <label htmlFor={ids.life}>The token is good for</label>
          <select id={ids.life} name="life" defaultValue="3600">{Object.entries(LIVES).map(([seconds, text]) => <option key={seconds} value={seconds}>{text}</option>)}</select>
          <p>It enrolls one probe and carries the pin of the collector's CA. The probe makes its key itself.</p>
          {create.isError && <ErrorNote error={create.error} />}
          <div className={form["actions"]}>
            <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Make the command</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function Waiting({ token, onClose }: { readonly token: EnrollmentToken; readonly onClose: () => void }) {
  const { rest, url } = useSession();
  const queries = useQueryClient();
  const record = useQuery({
    queryKey: ["enrollment token", token.id], queryFn: () => rest.readEnrollmentToken(token.id),
    refetchInterval: ({ state }) => (state.data?.used_at ? false : UNDERWAY_MS),
  });
  const probeId = record.data?.probe_id ?? null;
  const probe = useQuery({ queryKey: ["probe", probeId], enabled: probeId !== null, queryFn: () => rest.readProbe(probeId ?? "") });
  useEffect(() => {
    if (probeId !== null) void queries.invalidateQueries({ queryKey: ["probes"] });
  }, [probeId, queries]);
  const { protocol, hostname } = new URL(url);
  const collector = protocol === "https:" ? url : `https://${hostname}:${HTTPS_PORT}`;
  return (
    <div className={form["form"]}>
      <p>On the site's machine, as root:</p>
      <CopyText label="The command" text={`lanthorn-probe enroll --collector ${collector} --token ${token.token}`} />
      {protocol !== "https:" && <p>You are here without TLS, so the address is a guess: it is where the collector listens with TLS.</p>}
      <p role="status">
        {probe.data === undefined ? <>Waiting… The token ends <Moment at={token.expires_at} exact />. It is shown only here.</>
          : <strong>Enrolled: <bdi>{showForeign(probe.data.name, 80)}</bdi>. Start it: systemctl start lanthorn-probe</strong>}
      </p>
      {(record.isError || probe.isError) && <ErrorNote error={record.error ?? probe.error} />}
      <div className={form["actions"]}><Button kind="primary" onClick={onClose}>Done</Button></div>
    </div>
  );
}

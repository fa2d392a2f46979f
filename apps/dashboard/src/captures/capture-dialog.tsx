import { MAX_PCAP_FILTER, type PcapStart } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";
import styles from "./captures-page.module.css";

const TIMES = { 10: "10 seconds", 60: "a minute", 600: "10 minutes", 3600: "an hour", 86400: "a day" };
const MEBIBYTE = 1024 * 1024;
const SIZES = { 16: "16 MiB", 64: "64 MiB", 256: "256 MiB", 1024: "1 GiB", 4096: "4 GiB" };

/** Starts a capture by one probe, and goes to its page. It ends by itself. */
export function CaptureDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const [queries, navigate] = [useQueryClient(), useNavigate()];
  const ids = { filter: useId(), probe: useId(), seconds: useId(), size: useId(), hint: useId() };
  const chosen = useSearch({ strict: false, select: ({ site_id: siteId }) => siteId });
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  const online = (probes.data?.data ?? []).filter(({ state, site_id: siteId }) => state === "online" && (chosen === undefined || siteId === chosen));
  const start = useMutation({
    mutationFn: (body: Partial<PcapStart>) => rest.startPcap(body),
    onSuccess(capture) {
      void queries.invalidateQueries({ queryKey: ["captures"] });
      onClose();
      void navigate({ to: "/captures/$pcapId", params: { pcapId: capture.id } });
    },
  });
  const submit = withForm(({ filter = "", probe = "", seconds = "60", size = "64", headers }) => {
    start.mutate({ filter: filter.trim(), probe_id: probe, seconds: Number(seconds), bytes: Number(size) * MEBIBYTE, packets: 100_000_000, headers_only: headers === "on" });
  });
  return (
    <Dialog title="Start a capture" onClose={onClose}>
      <form className={`${form["form"]} ${styles["form"]}`} onSubmit={submit}>
        <label htmlFor={ids.filter}>Filter</label>
        <input id={ids.filter} name="filter" maxLength={MAX_PCAP_FILTER} spellCheck={false} autoComplete="off" placeholder="host 10.0.0.7 and tcp port 443" aria-describedby={ids.hint} />
        <p id={ids.hint}>As tcpdump writes it. Empty: every packet that the probe sees.</p>
        <label htmlFor={ids.probe}>Probe</label>
        <select id={ids.probe} name="probe" required>
          {online.map(({ id, name, health }) => (
            <option key={id} value={id}>{showForeign(name, 60)}{health?.traffic ? ` (${health.traffic.interfaces.map((each) => showForeign(each.name, 20)).join(", ")})` : " (no interface to record)"}</option>
          ))}
        </select>
        {probes.data && online.length === 0 && <p>No probe is online, so that nobody can record now.</p>}
        <div className={styles["pair"]}>
          <div>
            <label htmlFor={ids.seconds}>It ends after</label>
            <select id={ids.seconds} name="seconds" defaultValue="60">{Object.entries(TIMES).map(([each, text]) => <option key={each} value={each}>{text}</option>)}</select>
          </div>
          <div>
            <label htmlFor={ids.size}>or at a size of</label>
            <select id={ids.size} name="size" defaultValue="64">{Object.entries(SIZES).map(([each, text]) => <option key={each} value={each}>{text}</option>)}</select>
          </div>
        </div>
        <label className={styles["check"]}><input type="checkbox" name="headers" />Leave payload out, keep headers</label>
        {start.isError && <ErrorNote error={start.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={start.isPending || online.length === 0}>Start the capture</Button>
        </div>
      </form>
    </Dialog>
  );
}

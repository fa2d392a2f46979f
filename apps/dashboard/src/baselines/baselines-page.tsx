import { type Baseline, BASELINE_FACTS, type BaselineDifference, DIFFERENCE_STATES } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark, type Tone } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { useCursorList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import { AcceptDialog } from "./accept-dialog.tsx";
import { ApproveDialog } from "./approve-dialog.tsx";
import styles from "./baselines.module.css";

const route = getRouteApi("/baselines");
const PAGE_SIZE = 100;
const TONES: Readonly<Record<Baseline["state"], Tone>> = { learning: "warn", active: "good", frozen: "calm" };
const DIFFERENCE_TONES: Readonly<Record<BaselineDifference["state"], Tone>> = { pending: "calm", open: "bad", held: "warn", accepted: "good", ended: "calm" };

/** What is normal of sites and devices, and what differs from it now. */
export function BaselinesPage() {
  return (
    <Page title="Baselines" note="What is normal of sites and devices, and what differs from it.">
      <Filters />
      <Differences />
      <Baselines />
    </Page>
  );
}

function Filters() {
  const { state, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "state" | "kind", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value || undefined }), replace: true });
  return (
    <div className={filters["filters"]} role="search">
      <Choose label="State of differences" value={state} options={choicesOf(DIFFERENCE_STATES.filter((each) => each !== "open"), "Open")} onChange={(value) => set("state", value)} />
      <Choose label="Kind of fact" value={kind} options={choicesOf(BASELINE_FACTS, "Any kind")} onChange={(value) => set("kind", value)} />
    </div>
  );
}

function Differences() {
  const { rest } = useSession();
  const { site_id, state, kind } = route.useSearch();
  const filter = { site_id, state, kind };
  const mayAccept = useMay("alerts:write");
  const [accepting, setAccepting] = useState<BaselineDifference | null>(null);
  const differences = useCursorList({
    queryKey: ["baselines", "differences", filter], read: (cursor) => rest.listBaselineDifferences({ ...filter, per_page: PAGE_SIZE, cursor }),
  });
  return (
    <Panel title="What differs" isFlush>
      {accepting && <AcceptDialog difference={accepting} onClose={() => setAccepting(null)} />}
      <Answer query={differences}>
        {({ list, total }) => (total === 0 ? <Empty title={state === undefined && kind === undefined ? "Nothing differs" : "The filter leaves nothing"}>{state === undefined && kind === undefined ? "Everything is as it usually is, or still being learned." : "No difference is like this."}</Empty> : (
          <>
            <Table heads={["Of", "What", "Usually", "Now", "Severity", "State", "Seen", mayAccept && "Action"]}>{list.map((difference) => <DifferenceRow key={difference.id} difference={difference} onAccept={mayAccept ? setAccepting : null} />)}</Table>
            {differences.hasNextPage && <p className={styles["more"]}><Button onClick={() => void differences.fetchNextPage()} disabled={differences.isFetchingNextPage}>Show more</Button></p>}
          </>
        ))}
      </Answer>
    </Panel>
  );
}

function DifferenceRow({ difference, onAccept }: { readonly difference: BaselineDifference; readonly onAccept: ((difference: BaselineDifference) => void) | null }) {
  const { name, device_id: deviceId, kind, key, outcome, expected, observed, severity, state, last_seen: at } = difference;
  return (
    <tr>
      <td>{deviceId === null ? <Foreign text={name} longest={60} /> : <Link to="/devices/$deviceId" params={{ deviceId }}><Foreign text={name} longest={60} /></Link>}</td>
      <td>{words(kind)} <code>{showForeign(key, 60)}</code> {words(outcome)}</td>
      <td className={styles["value"]}>{expected === "" ? "nothing" : <Foreign text={expected} longest={160} />}</td>
      <td className={styles["value"]}>{observed === "" ? "nothing" : <Foreign text={observed} longest={160} />}</td>
      <td><SeverityMark severity={severity} /></td>
      <td><Mark tone={DIFFERENCE_TONES[state]}>{state}</Mark></td>
      <td><Moment at={at} /></td>
      {onAccept && <td>{(state === "open" || state === "pending" || state === "held") && <Button onClick={() => onAccept(difference)}>Accept</Button>}</td>}
    </tr>
  );
}

function Baselines() {
  const { rest } = useSession();
  const { site_id } = route.useSearch();
  const mayWrite = useMay("devices:write");
  const [approving, setApproving] = useState<Baseline | null>(null);
  const baselines = useCursorList({
    queryKey: ["baselines", "list", site_id], read: (cursor) => rest.listBaselines({ site_id, per_page: PAGE_SIZE, cursor }),
  });
  return (
    <Panel title={baselines.data ? count(baselines.data.total, "baseline") : "Baselines"} isFlush>
      {approving && <ApproveDialog baseline={approving} onClose={() => setApproving(null)} />}
      <Answer query={baselines}>
        {({ list, total }) => (total === 0 ? <Empty title="No baselines yet">Each site and device has one as soon as a probe has reported something of it.</Empty> : (
          <>
            <Table heads={["Of", "State", "Facts", "Open differences", "Approved", mayWrite && "Action"]}>{list.map((baseline) => <BaselineRow key={baseline.id} baseline={baseline} onApprove={mayWrite ? setApproving : null} />)}</Table>
            {baselines.hasNextPage && <p className={styles["more"]}><Button onClick={() => void baselines.fetchNextPage()} disabled={baselines.isFetchingNextPage}>Show more</Button></p>}
          </>
        ))}
      </Answer>
    </Panel>
  );
}

function BaselineRow({ baseline, onApprove }: { readonly baseline: Baseline; readonly onApprove: ((baseline: Baseline) => void) | null }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const { id, name, device_id: deviceId, state, learning_until: until, facts, open_differences: open, approved_by: by, approved_at: at } = baseline;
  const isFrozen = state === "frozen";
  const freeze = useMutation({ mutationFn: () => (isFrozen ? rest.unfreezeBaseline(id) : rest.freezeBaseline(id)), onSuccess: () => queries.invalidateQueries({ queryKey: ["baselines"] }) });
  const known = showForeign(name, 60);
  return (
    <tr>
      <td>{deviceId === null ? <strong>Site <Foreign text={name} longest={60} /></strong> : <Link to="/devices/$deviceId" params={{ deviceId }}><Foreign text={name} longest={60} /></Link>}</td>
      <td><Mark tone={TONES[state]}>{state}</Mark>{until !== null && <span className={styles["soft"]}> ends <Moment at={until} /></span>}</td>
      <td className={styles["value"]}>{Object.entries(facts).map(([kind, number]) => count(number, words(kind))).join(", ") || "none"}</td>
      <td>{open === 0 ? "none" : <Mark tone="bad">{open.toLocaleString("en")}</Mark>}</td>
      <td>{by === null ? "never" : <><Foreign text={by} longest={60} />, <Moment at={at} /></>}</td>
      {onApprove && (
        <td>
          <div className={styles["actions"]}>
            <Button onClick={() => onApprove(baseline)} aria-label={`Approve ${known}`}>Approve</Button>
            <Button onClick={() => freeze.mutate()} disabled={freeze.isPending} aria-label={`${isFrozen ? "Unfreeze" : "Freeze"} ${known}`}>{isFrozen ? "Unfreeze" : "Freeze"}</Button>
          </div>
          {freeze.isError && <ErrorNote error={freeze.error} />}
        </td>
      )}
    </tr>
  );
}

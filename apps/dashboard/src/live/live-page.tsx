import { STREAM_EVENTS } from "@lanthorn/contract";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { Empty } from "../states/answer.tsx";
import { kindName } from "../texts/words.ts";
import { type Follower, followEvents } from "./follow.ts";
import styles from "./live-page.module.css";
import { LiveRows } from "./live-rows.tsx";

const route = getRouteApi("/live");
const TONES = { connecting: "calm", connected: "good", disconnected: "warn", refused: "bad" } as const;

/** Events as they come. */
export function LivePage() {
  const { rest, url } = useSession();
  const { site_id: siteId } = route.useSearch();
  const [follower, setFollower] = useState<Follower | null>(null);
  useEffect(() => {
    const own = followEvents({ rest, url, siteId });
    setFollower(own);
    return () => own.close();
  }, [rest, url, siteId]);
  return <Page title="Live" isFull>{follower === null ? <Empty title="Connecting…" /> : <Stream follower={follower} />}</Page>;
}

function Stream({ follower }: { readonly follower: Follower }) {
  const { types = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const rows = useSyncExternalStore(follower.subscribe, follower.rows);
  const state = useSyncExternalStore(follower.subscribe, follower.state);
  const [held, setHeld] = useState<typeof rows | null>(null);
  const chosen = useMemo(() => new Set(types === "" ? [] : types.split(",")), [types]);
  const shown = useMemo(() => {
    const all = held ?? rows;
    return chosen.size === 0 ? all : all.filter((row) => "note" in row || chosen.has(row.event));
  }, [held, rows, chosen]);
  const since = held === null ? 0 : rows.length - Math.max(0, rows.indexOf(held.at(-1) ?? rows[0] as never)) - 1;
  const toggle = (name: string) => {
    const next = chosen.has(name) ? [...chosen].filter((each) => each !== name) : [...chosen, name];
    void navigate({ search: (before) => ({ ...before, types: next.length === 0 ? undefined : next.join(",") }), replace: true });
  };
  useCommands(useMemo((): readonly Command[] => [
    { id: "pause", title: "Hold the list still, or let it run", group: "This page", keys: "p", run: () => setHeld((before) => (before === null ? follower.rows() : null)) },
  ], [follower]));
  return (
    <div className={styles["content"]}>
      <div className={styles["bar"]}>
        <Mark tone={TONES[state]}>{state}</Mark>
        <Button onClick={() => setHeld(held === null ? rows : null)} aria-pressed={held !== null}>{held === null ? "Hold" : `Go on${since > 0 ? ` (${since} new)` : ""}`}</Button>
        <div className={styles["types"]} role="group" aria-label="Events">
          {STREAM_EVENTS.map((name) => <button key={name} type="button" aria-pressed={chosen.has(name)} onClick={() => toggle(name)}>{kindName(name)}</button>)}
        </div>
      </div>
      {shown.length === 0 && state === "connecting" ? <Empty title="Connecting…" /> : shown.length === 0 ? <Empty title="Nothing has come yet">Events appear here as the probes report them.</Empty> : <LiveRows rows={shown} isHeld={held !== null} />}
    </div>
  );
}

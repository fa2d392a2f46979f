import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { useSession } from "../session/use-session.ts";
import { useKeptPreferences } from "../shell/kept-preferences.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { readView, type Shown, type Viewed } from "./views.ts";
import styles from "./views-dialog.module.css";

/**
 * Begins with the default view where the page was opened without a filter. What somebody filters or clears meanwhile stays so. Draws
 * something only where it cannot begin so: why, and what to do.
 */
export function DefaultView<Filter>({ of, isPlain, onShow, onChoose }: {
  readonly of: Viewed<Filter>; readonly isPlain: boolean; readonly onShow: (shown: Shown<Filter>) => void; readonly onChoose: () => void;
}) {
  const { rest } = useSession();
  const mayBegin = useRef(isPlain);
  if (!isPlain) mayBegin.current = false;
  const preferences = useKeptPreferences();
  const id = preferences.data?.default_views[of.list] ?? null;
  const view = useQuery({ queryKey: ["views", "one", id], enabled: mayBegin.current && id !== null, queryFn: () => rest.readView(id ?? ""), refetchInterval: false });
  useEffect(() => {
    const read = view.data && mayBegin.current ? readView(of, view.data) : null;
    if (!read?.ok) return;
    mayBegin.current = false;
    onShow(read.shown);
  }, [of, view.data, onShow]);
  if (!isPlain) return null;
  const failed = [preferences, view].find(({ isError, data }) => isError && data === undefined);
  if (failed) return <div className={styles["unread"]}><p>Your default view could not be read. All {of.list} are shown.</p><ErrorNote error={failed.error} onRetry={() => void failed.refetch()} /></div>;
  const read = view.data && readView(of, view.data);
  if (!view.data || !read || read.ok) return null;
  return (
    <div className={styles["unread"]} role="alert">
      <p>Your default view <strong><Foreign text={view.data.name} longest={60} /></strong> cannot be shown: <Foreign text={read.message} />. All {of.list} are shown.</p>
      <Button onClick={onChoose}>Choose another one</Button>
    </div>
  );
}

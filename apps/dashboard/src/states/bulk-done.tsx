import type { BulkResult } from "@lanthorn/contract";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { count } from "../texts/count.ts";

/** What came of a change of many. @param props.hasNote Whether a note was given, which only what was changed keeps. */
export function BulkDone({ result: { changed, unchanged, gone }, hasNote = false, onClose }: {
  readonly result: BulkResult; readonly hasNote?: boolean; readonly onClose: () => void;
}) {
  return (
    <Dialog title="Changed" onClose={onClose}>
      <div className={form["form"]}>
        <p role="status">
          {changed.toLocaleString("en")} changed, {count(unchanged, "was", "were")} so already{gone > 0 && `, ${count(gone, "was", "were")} deleted meanwhile`}.
          {hasNote && unchanged > 0 && ` ${unchanged === 1 ? "It was" : "They were"} so already: your note was not kept there.`}
        </p>
        <div className={form["actions"]}><Button kind="primary" onClick={onClose}>Close</Button></div>
      </div>
    </Dialog>
  );
}

import type { BulkResult } from "@lanthorn/contract";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";

/** What came of a change of many. */
export function BulkDone({ result: { changed, unchanged, gone }, onClose }: { readonly result: BulkResult; readonly onClose: () => void }) {
  return (
    <Dialog title="Changed" onClose={onClose}>
      <div className={form["form"]}>
        <p role="status">{changed.toLocaleString("en")} changed, {unchanged.toLocaleString("en")} were so already{gone > 0 && `, ${gone.toLocaleString("en")} were deleted meanwhile`}.</p>
        <div className={form["actions"]}><Button kind="primary" onClick={onClose}>Close</Button></div>
      </div>
    </Dialog>
  );
}

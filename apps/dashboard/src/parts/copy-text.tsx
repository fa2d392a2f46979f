import { useState } from "react";
import { Button } from "./button.tsx";
import styles from "./copy-text.module.css";
import { Icon } from "./icon.tsx";

/** A text to be copied whole: by the button, or by hand where the browser does not let a page copy. */
export function CopyText({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  // Browsers have it in secure contexts alone.
  const canCopy = window.isSecureContext;
  return (
    <div className={styles["copy"]}>
      <textarea aria-label={label} readOnly value={text} rows={3} onFocus={(event) => event.target.select()} spellCheck={false} />
      {canCopy && (
        <Button onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true)).catch(() => setCopied(false))}>
          <Icon name={isCopied ? "check" : "copy"} />{isCopied ? "Copied" : "Copy"}
        </Button>
      )}
    </div>
  );
}

import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import styles from "./dialog.module.css";
import { Icon } from "./icon.tsx";

/** The browser's own modal dialog: it holds the focus, ends with Escape, and gives the focus back. */
export function Dialog({ title, onClose, children, isBare = false }: {
  readonly title: string; readonly onClose: () => void; readonly children: ReactNode;
  /** Whether the title is for screen readers only. */
  readonly isBare?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>("[data-first], input, select, textarea")?.focus();
  }, []);
  return (
    <dialog
      ref={element} className={styles["dialog"]} aria-labelledby={titleId} onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <div className={styles["inside"]}>
        <header className={isBare ? styles["hidden"] : styles["head"]}>
          <h2 id={titleId}>{title}</h2>
          {!isBare && <Button kind="quiet" onClick={() => element.current?.close()} aria-label="Close"><Icon name="close" /></Button>}
        </header>
        {children}
      </div>
    </dialog>
  );
}

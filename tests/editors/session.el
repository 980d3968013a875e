;;; session.el --- One sitting in Emacs with eglot and the real server; what was seen goes as JSON to $SEEN.  -*- lexical-binding: t -*-
(require 'package)
(package-activate-all)
(require 'eglot)
(require 'json)
(require 'campaign-mode)
(require 'flymake)
(setq campaign-command (append (json-parse-string (getenv "CAMPC") :array-type 'list) nil)
      eglot-sync-connect 30
      last-nonmenu-event ?a ; a key, not the mouse
      eglot-confirm-server-initiated-edits nil
      coding-system-for-write 'utf-8-unix
      make-backup-files nil)
(add-hook 'campaign-mode-hook #'eglot-ensure)

(defvar seen nil)
(defvar buffer nil)

(defun keep (name value) (push (cons name value) seen))
(defun finish () (with-temp-file (getenv "SEEN") (insert (json-serialize seen))))
(defun text () (with-current-buffer buffer (buffer-substring-no-properties (point-min) (point-max))))

(defun wait (what condition)
  "Wait until CONDITION, a function, says yes; otherwise end with WHAT was waited for in vain."
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end)
        (keep 'failed (format "waited in vain for %s" what))
        (keep 'text (text))
        (finish)
        (kill-emacs 3))
      ;; Nobody is idle here, which is when eglot tells of changes.
      (when (eglot-current-server) (eglot--signal-textDocument/didChange))
      (accept-process-output nil 0.05))))

(defun faults ()
  "The faults as flymake has them: line, column and text of each."
  (vconcat (mapcar (lambda (fault)
                     (goto-char (flymake-diagnostic-beg fault))
                     (list :line (line-number-at-pos) :column (current-column)
                           :covers (buffer-substring-no-properties (point) (flymake-diagnostic-end fault))
                           :text (flymake-diagnostic-text fault)))
                   (flymake-diagnostics))))
(defun fault (words)
  (seq-find (lambda (fault) (string-match-p words (plist-get fault :text))) (faults)))

(setq buffer (find-file-noselect (pop command-line-args-left)))
(switch-to-buffer buffer)
(condition-case failure
    (progn
      (font-lock-ensure)
      (keep 'mode (symbol-name major-mode))
      (keep 'faces (vconcat (mapcar (lambda (word)
                                      (goto-char (point-min))
                                      (search-forward word)
                                      (format "%s" (get-text-property (match-beginning 0) 'face)))
                                    '("lot box" "question" "Does" "10h" "2026-12-01"))))
      ;; What a command's end would do.
      (run-hooks 'post-command-hook)
      (wait "the server" #'eglot-current-server)
      (wait "the fault" (lambda () (fault "decison")))
      (keep 'before (faults))

      ;; What stands in the echo area over a name.
      (goto-char (point-min))
      (search-forward "package = lot")
      (let (told)
        (eglot-hover-eldoc-function (lambda (documentation &rest _) (setq told (substring-no-properties documentation))))
        (wait "the hover" (lambda () told))
        (keep 'hover told))

      ;; The fix, chosen from the menu as a person would.
      (goto-char (point-min))
      (search-forward "decison")
      (goto-char (match-beginning 0))
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt menu &rest _)
                   (keep 'menu (vconcat (all-completions "" menu)))
                   (car (all-completions "" menu)))))
        (call-interactively #'eglot-code-actions))
      (wait "the fix" (lambda () (not (fault "decison"))))
      (keep 'fixed (text))

      ;; Where a name is declared, and a new name for it, in both files.
      (goto-char (point-min))
      (search-forward "package = lot")
      (let ((place (car (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot)))))
        (keep 'declared (format "%s" (xref-location-group (xref-item-location place)))))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t)))
        (eglot-rename "three_days"))
      (wait "the new name" (lambda () (string-match-p "package = three_days" (text))))
      (keep 'renamed (text))
      (keep 'catalog (with-current-buffer (find-file-noselect "catalog.campaign") (buffer-string)))

      (eglot-format-buffer)
      (keep 'formatted (text))

      ;; What is offered on a new line of the campaign.
      (goto-char (point-min))
      (search-forward "campaign c {")
      (insert "\n  ")
      (let ((offer (eglot-completion-at-point)))
        (keep 'offers (vconcat (mapcar #'substring-no-properties
                                       (all-completions (buffer-substring (nth 0 offer) (point)) (nth 2 offer))))))
      (delete-region (line-beginning-position 1) (line-beginning-position 2))
      (keep 'outline (vconcat (mapcar (lambda (entry) (format "%s" (car entry))) (eglot-imenu))))

      ;; Two faults, mended at once.
      (goto-char (point-max))
      (insert "run other { variant_of = control; chang = { lr = 2e-3 }; becuse = \"b\" }\n")
      (wait "two faults" (lambda () (and (fault "chang") (fault "becuse"))))
      (goto-char (point-min))
      (eglot-code-actions (point) (point) "source.fixAll.campc" t)
      (wait "the fixes" (lambda () (not (or (fault "chang") (fault "becuse")))))
      (keep 'all (text))

      ;; The indentation, without the server.
      (let ((tidy (text)))
        (indent-region (point-min) (point-max))
        (keep 'indented (if (equal tidy (text)) t :false)))
      (keep 'after (faults)))
  (error (keep 'failed (format "%S" failure))))
(finish)
(with-current-buffer buffer (set-buffer-modified-p nil))
(ignore-errors (eglot-shutdown-all))

;;; campaign-mode.el --- Plans of GPU rentals, checked while you type  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A major mode for .campaign files: colours, comments, indentation, an index of blocks, and the server's command for eglot, which
;; came into Emacs with 29 (before: package-install eglot, or Debian's elpa-eglot).
;;
;;   (add-to-list 'load-path "/path/to/campc/editors/emacs")
;;   (require 'campaign-mode)
;;   (add-hook 'campaign-mode-hook #'eglot-ensure)

;;; Code:

(defgroup campaign nil "Plans of GPU rentals." :group 'languages)

(defcustom campaign-command '("campc" "lsp")
  "How the language server is started: a program and its arguments."
  :type '(repeat string))

(defcustom campaign-indent 2
  "Columns by which a block's lines are indented."
  :type 'natnum :safe #'natnump)

(defvar campaign-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?% "." table)
    table))

(defconst campaign-mode--unit
  "\\(?:min\\|steps?\\|[KMGTPkmgtp]?i?B\\(?:/\\(?:min\\|[shdw]\\)\\)?\\|[A-Z]\\{3\\}\\|[shdw]\\)")

(defconst campaign-mode-font-lock-keywords
  `(("^[ \t]*#[ \t]*\\(campc:[ \t]*allow[ \t]+C[0-9]\\{3\\}\\)" 1 font-lock-preprocessor-face prepend)
    ("\\(?:^\\|[;{]\\)[ \t]*\\(use\\)[ \t]*\"" 1 font-lock-keyword-face)
    ("\\(?:^\\|[;{]\\)[ \t]*\\(let\\)[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)[ \t]*="
     (1 font-lock-keyword-face) (2 font-lock-variable-name-face))
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*\\)\\(?:[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)\\)?[ \t]*{"
     (1 font-lock-type-face) (2 font-lock-function-name-face nil t))
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*\\)[ \t]*=\\(?:$\\|[^=]\\)" 1 font-lock-variable-name-face)
    ("\\_<\\(?:and\\|or\\|not\\|is\\)\\_>" . font-lock-keyword-face)
    ("\\_<\\(?:true\\|false\\)\\_>" . font-lock-constant-face)
    ("\\_<[0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9]\\(?:[T ]+[0-9][0-9]:[0-9][0-9]\\(?::[0-9][0-9]\\)?\\)?" . font-lock-constant-face)
    (,(concat "\\_<[0-9][0-9_]*\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\|[ \t]*" campaign-mode--unit "\\_>\\|%\\)?")
     . font-lock-constant-face))
  "What the grammar alone tells of colours.")

(defun campaign-mode--propertize (start end)
  "Mark the quotes of texts of several lines between START and END."
  (goto-char start)
  (while (search-forward "\"\"\"" end t)
    (let* ((open (- (point) 3))
           (state (save-excursion (syntax-ppss open))))
      (cond ((or (nth 4 state) (nth 5 state)))
            ((eq (nth 3 state) t)
             (put-text-property (1- (point)) (point) 'syntax-table (string-to-syntax "|")))
            ((null (nth 3 state))
             (put-text-property open (1+ open) 'syntax-table (string-to-syntax "|")))))))

(defun campaign-mode-indent-line ()
  "Indent a line by its brackets; a text of several lines stays as it is."
  (interactive)
  (let ((state (save-excursion (syntax-ppss (line-beginning-position)))))
    (if (nth 3 state)
        'noindent
      (let ((depth (- (nth 0 state) (if (save-excursion (back-to-indentation) (looking-at "[]})]")) 1 0)))
            (before (<= (current-column) (current-indentation))))
        (save-excursion (indent-line-to (* campaign-indent (max 0 depth))))
        (when before (back-to-indentation))))))

(defvar campaign-mode-imenu-generic-expression
  '((nil "^[ \t]*\\([A-Za-z_][A-Za-z0-9_]*[ \t]+[A-Za-z_][A-Za-z0-9_]*\\)[ \t]*{" 1))
  "The blocks with a name, where no server tells of them.")

;;;###autoload
(define-derived-mode campaign-mode prog-mode "Campaign"
  "Major mode for plans of GPU rentals."
  (setq-local comment-start "# "
              comment-end ""
              comment-start-skip "#+[ \t]*"
              indent-tabs-mode nil
              tab-width campaign-indent
              indent-line-function #'campaign-mode-indent-line
              electric-indent-chars (append "]})" electric-indent-chars)
              syntax-propertize-function #'campaign-mode--propertize
              imenu-generic-expression campaign-mode-imenu-generic-expression
              font-lock-defaults '(campaign-mode-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.campaign\\'" . campaign-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'campaign-mode (lambda (&rest _) campaign-command))))

(provide 'campaign-mode)
;;; campaign-mode.el ends here

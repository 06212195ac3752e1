/*
 * The widgets of render/ui.h, by Dear ImGui (1.86). SPDX-License-Identifier: MIT
 */
#include "render/ui.h"

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_internal.h> /* ClearActiveID, a column's edge */

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define MAX_RECTS 1024
#define TEXT_PX 14.0f
#define REST_S 0.25    /* of the mouse, before help is shown */
#define RESET "\u21ba" /* an arrow in a circle */

struct key_event {
    int key, scancode, action, mods;
    unsigned character; /* typed; 0: the event of a key */
};

struct ui {
    double scale;
    enum theme_name theme;
    GLFWwindow *glfw;
    GLFWkeyfun window_on_key;
    GLFWcharfun window_on_character;
    ImVector<struct key_event> keys; /* that Dear ImGui has not been told yet */
    ImDrawList *list; /* what lines and boxes are added to: the panel's, or the picture's */
    int panel_flags;
    float most_width;    /* of the lines of a panel that fits its contents; 0: any */
    bool mark;           /* the next button */
    bool row_opened;     /* the last line of a list was double-clicked */
    bool has_font;       /* with arrows */
    double moved_s;      /* when the mouse did last */
    bool help_waits;     /* for the mouse to rest */
    bool help, keyboard; /* widgets show help; keys go through the widgets of a panel */
    char panel[64];
    char focused[64]; /* what the keys have reached */
    char cut[64];     /* the first panel that is too small for what it shows */
    char cut_line[128];
    int count;
    struct ui_rect rects[MAX_RECTS];
};

static ImU32 color_of(unsigned rgb, double alpha = 1) {
    return IM_COL32(rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255, (int)(alpha * 255 + 0.5));
}

static void add_rect(struct ui *ui, const char *name, const char *suffix, ImVec2 min, ImVec2 max) {
    if (ui->count == MAX_RECTS)
        return;
    struct ui_rect *rect = &ui->rects[ui->count++];
    snprintf(rect->name, sizeof(rect->name), "%s%s", name, suffix);
    rect->x = min.x;
    rect->y = min.y;
    rect->width = max.x - min.x;
    rect->height = max.y - min.y;
}

/* Records the rectangle of the widget just made, unless it is scrolled out of sight. */
static void add_widget_rect(struct ui *ui, const char *name, const char *suffix = "") {
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
        snprintf(ui->focused, sizeof(ui->focused), "%s%s", name, suffix);
    if (ImGui::IsItemVisible())
        add_rect(ui, name, suffix, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

/* With line breaks in place of blanks, so that lines are of at most this width: Dear ImGui would
 * also break numbers at their points. */
static std::string break_lines(const char *text, float width) {
    std::string out;
    size_t line = 0; /* where the last one begins */
    for (const char *at = text; *at;) {
        size_t blanks = strspn(at, " "), word = strcspn(at + blanks, " \n");
        std::string longer = out.substr(line) + std::string(at, blanks + word);
        if (out.size() > line && blanks && ImGui::CalcTextSize(longer.c_str()).x > width) {
            out += '\n';
            line = out.size();
        } else {
            out.append(at, blanks);
        }
        out.append(at + blanks, word);
        at += blanks + word;
        if (*at == '\n') {
            out += *at++;
            line = out.size();
        }
    }
    return out;
}

/* Beside a panel of settings, or above one that has no room there, so that it covers no value of
 * it; not while anything is dragged. */
static void tooltip(struct ui *ui, const char *help) {
    float left = ImGui::GetWindowPos().x, wrap = (float)(320 * ui->scale);
    if (!ui->help || !help || !*help || !ImGui::IsItemHovered() || ImGui::IsAnyItemActive())
        return;
    if (glfwGetTime() < ui->moved_s + REST_S) {
        ui->help_waits = true;
        return;
    }
    if (ui->panel_flags & UI_NO_BACKGROUND && left > wrap / 2) {
        wrap = std::min(wrap, left - 2 * ImGui::GetStyle().WindowPadding.x);
        ImGui::SetNextWindowPos(ImVec2(left, ImGui::GetItemRectMin().y), ImGuiCond_Always,
                                ImVec2(1, 0));
    } else if (ui->panel_flags & UI_NO_BACKGROUND) {
        ImGui::SetNextWindowPos(
            ImVec2(std::min(ImGui::GetItemRectMin().x, ImGui::GetIO().DisplaySize.x - wrap),
                   ImGui::GetWindowPos().y),
            ImGuiCond_Always, ImVec2(0, 1));
    }
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(break_lines(help, wrap).c_str());
    ImGui::EndTooltip();
}

static void set_colors(const struct ui *ui) {
    ImVec4 *colors = ImGui::GetStyle().Colors;
    if (ui->theme == THEME_LIGHT)
        ImGui::StyleColorsLight();
    else
        ImGui::StyleColorsDark();
    colors[ImGuiCol_FrameBg] = ImGui::ColorConvertU32ToFloat4(color_of(themes[ui->theme].field));
    colors[ImGuiCol_Text] = ImGui::ColorConvertU32ToFloat4(color_of(themes[ui->theme].text));
    colors[ImGuiCol_WindowBg] = ImGui::ColorConvertU32ToFloat4(color_of(themes[ui->theme].window));
}

static void set_style(struct ui *ui, const char *font) {
    static const ImWchar glyphs[] = {0x20, 0xff, 0x21ba, 0x21ba, 0};
    ImGuiIO &io = ImGui::GetIO();
    ImGuiStyle &style = ImGui::GetStyle();
    style = ImGuiStyle();
    set_colors(ui);
    style.WindowRounding = 3;
    style.FrameRounding = 2;
    style.FramePadding = ImVec2(4, 2);
    style.ItemSpacing = ImVec2(6, 3);
    style.ScaleAllSizes((float)ui->scale);
    style.WindowMinSize = ImVec2(1, 1); /* panels may have any size; scaling would round it to 0 */
    io.Fonts->Clear();
    ui->has_font = font != NULL;
    if (font)
        io.Fonts->AddFontFromFileTTF(font, (float)std::round(TEXT_PX * ui->scale), NULL, glyphs);
    else
        io.FontGlobalScale = (float)ui->scale;
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int mods) {
    struct ui *ui = (struct ui *)ImGui::GetIO().UserData;
    ui->window_on_key(glfw, key, scancode, action, mods);
    if (key != GLFW_KEY_UNKNOWN)
        ui->keys.push_back({key, scancode, action, mods, 0});
}

static void on_character(GLFWwindow *glfw, unsigned character) {
    struct ui *ui = (struct ui *)ImGui::GetIO().UserData;
    ui->window_on_character(glfw, character);
    ui->keys.push_back({0, 0, 0, 0, character});
}

/* Dear ImGui looks at each drawing which keys are down, and ignores what is typed while Ctrl is. So
 * nothing goes up before the drawing after a key that is no character went down, and Ctrl goes down
 * after the drawing that has the characters before it; what comes later waits. */
static void tell_keys(struct ui *ui) {
    bool went_down = false, typed = false;
    int told = 0;
    for (struct key_event e : ui->keys) {
        if (e.key == GLFW_KEY_TAB && !ui->keyboard && !ImGui::GetIO().WantTextInput)
            e.key = GLFW_KEY_F25; /* else it begins typing into the first slider */
        if (ui->keyboard && e.key == GLFW_KEY_TAB)
            e.key = e.mods & GLFW_MOD_SHIFT ? GLFW_KEY_UP : GLFW_KEY_DOWN;
        if (ui->keyboard && e.key == GLFW_KEY_ENTER && !ImGui::GetIO().WantTextInput)
            e.key = GLFW_KEY_SPACE;
        bool control = e.key == GLFW_KEY_LEFT_CONTROL || e.key == GLFW_KEY_RIGHT_CONTROL;
        if (e.character) {
            ImGui_ImplGlfw_CharCallback(ui->glfw, e.character);
            typed = true;
        } else if (e.action == GLFW_RELEASE ? went_down : control && typed) {
            break;
        } else {
            ImGui_ImplGlfw_KeyCallback(ui->glfw, e.key, e.scancode, e.action, e.mods);
            went_down |= e.action != GLFW_RELEASE &&
                         (e.key >= GLFW_KEY_ESCAPE || ui->keyboard || e.mods & GLFW_MOD_CONTROL);
        }
        told++;
    }
    if (told > 0)
        ui->keys.erase(ui->keys.begin(), ui->keys.begin() + told);
}

bool ui_has_more_keys(const struct ui *ui) {
    return !ui->keys.empty();
}

double ui_help_due(const struct ui *ui) {
    return ui->help_waits ? std::max(0.0, ui->moved_s + REST_S - glfwGetTime()) : -1;
}

struct ui *ui_open(void *glfw, double scale, const char *font) {
    struct ui *ui = (struct ui *)calloc(1, sizeof(*ui));
    if (!ui)
        return NULL;
    ui->scale = scale;
    ui->help = true;
    ui->glfw = (GLFWwindow *)glfw;
    ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.UserData = ui;
    io.IniFilename = NULL; /* else it writes a file into the current folder */
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    set_style(ui, font);
    ui->window_on_key = glfwSetKeyCallback(ui->glfw, NULL);
    ui->window_on_character = glfwSetCharCallback(ui->glfw, NULL);
    ImGui_ImplGlfw_InitForOpenGL(ui->glfw, true);
    glfwSetKeyCallback(ui->glfw, on_key);
    glfwSetCharCallback(ui->glfw, on_character);
    ImGui_ImplOpenGL3_Init("#version 330 core");
    return ui;
}

void ui_set_scale(struct ui *ui, double scale, const char *font) {
    ui->scale = scale;
    set_style(ui, font);
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
}

void ui_set_theme(struct ui *ui, enum theme_name theme) {
    ui->theme = theme;
    set_colors(ui);
}

const struct theme *ui_theme(const struct ui *ui) {
    return &themes[ui->theme];
}

void ui_close(struct ui **ui) {
    if (!*ui)
        return;
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    (*ui)->keys.clear();
    free(*ui);
    *ui = NULL;
}

void ui_begin(struct ui *ui) {
    ui->count = 0;
    ui->cut[0] = ui->cut_line[0] = ui->focused[0] = '\0';
    tell_keys(ui);
    ImGuiIO &io = ImGui::GetIO();
    io.ConfigFlags = ui->keyboard ? ImGuiConfigFlags_NavEnableKeyboard : 0;
    ui->keyboard = false;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || ImGui::IsMouseDown(0))
        ui->moved_s = glfwGetTime();
    ui->help_waits = false;
    ui->list = ImGui::GetBackgroundDrawList();
}

void ui_end(struct ui *ui) {
    (void)ui;
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void ui_set_help(struct ui *ui, bool on) {
    ui->help = on;
}

bool ui_wants_mouse(const struct ui *ui) {
    (void)ui;
    return ImGui::GetIO().WantCaptureMouse;
}

bool ui_keeps_mouse(const struct ui *ui) {
    (void)ui;
    const ImGuiIO &io = ImGui::GetIO();
    bool held = false;
    for (int i = 0; i < ImGuiMouseButton_COUNT; i++)
        held |= io.MouseDown[i] && io.MouseDownOwned[i];
    return held || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

bool ui_wants_keys(const struct ui *ui) {
    (void)ui;
    return ImGui::GetIO().WantTextInput;
}

void ui_stop_typing(struct ui *ui) {
    (void)ui;
    ImGui::ClearActiveID();
    ImGui::GetIO().WantTextInput = false;
    ImGui::GetCurrentContext()->WantTextInputNextFrame = 0;
}

static void note_cut(struct ui *ui, const char *panel) {
    if (!ui->cut[0])
        snprintf(ui->cut, sizeof(ui->cut), "%s", panel);
}

void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags) {
    int f = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
            ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoTitleBar;
    if (flags & UI_KEYBOARD)
        ui->keyboard = true;
    else
        f |= ImGuiWindowFlags_NoNav;
    if (flags & UI_NO_BACKGROUND)
        f |= ImGuiWindowFlags_NoBackground;
    if (!(flags & UI_ON_TOP))
        f |= ImGuiWindowFlags_NoBringToFrontOnFocus;
    if (!(flags & UI_KEYBOARD) && (!(flags & UI_ON_TOP) || flags & UI_NO_BACKGROUND))
        f |= ImGuiWindowFlags_NoFocusOnAppearing; /* else it takes the keys from a panel */
    if (flags & UI_AUTO_SIZE)
        f |= ImGuiWindowFlags_AlwaysAutoResize;
    if (!(flags & UI_SCROLL))
        f |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    ImGui::SetNextWindowPos(ImVec2((float)x, (float)y));
    if (!(flags & UI_AUTO_SIZE))
        ImGui::SetNextWindowSize(ImVec2((float)width, (float)height));
    if (flags & UI_TRANSLUCENT)
        ImGui::SetNextWindowBgAlpha(0.75f);
    ImGui::Begin(name, NULL, f);
    ui->list = ImGui::GetWindowDrawList();
    bool keys_before = ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard;
    if (flags & UI_KEYBOARD && (ImGui::IsWindowAppearing() || !keys_before)) {
        ImGui::SetWindowFocus();
        if (flags & UI_NO_BACKGROUND) { /* the first widget of a panel is marked */
            ImGui::NavInitWindow(ImGui::GetCurrentWindow(), true);
            ImGui::GetCurrentContext()->NavDisableHighlight = false;
        }
    }
    ui->panel_flags = flags;
    ui->most_width = 0;
    if (flags & UI_AUTO_SIZE && width > 0)
        ui->most_width = (float)width - ImGui::GetStyle().WindowPadding.x;
    snprintf(ui->panel, sizeof(ui->panel), "%s", name);
    ImVec2 min = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    ImVec2 max(min.x + size.x, min.y + size.y), screen = ImGui::GetIO().DisplaySize;
    add_rect(ui, "panel.", name, min, max);
    if (min.x < 0 || min.y < 0 || max.x > screen.x || max.y > screen.y)
        note_cut(ui, name);
}

void ui_panel_end(struct ui *ui) {
    ImVec2 padding = ImGui::GetStyle().WindowPadding; /* it may be missing */
    bool too_high = ImGui::GetScrollMaxY() > padding.y && !(ui->panel_flags & UI_SCROLL);
    if (ImGui::GetScrollMaxX() > padding.x || too_high)
        note_cut(ui, ui->panel);
    ImGui::End();
    ui->list = ImGui::GetBackgroundDrawList();
}

bool ui_group(struct ui *ui, const char *name, const char *title, bool open) {
    char label[160];
    snprintf(label, sizeof(label), "%s###%s", title ? title : name, name);
    bool shown = ImGui::CollapsingHeader(label, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
    add_widget_rect(ui, "group.", name);
    return shown;
}

bool ui_list_row(struct ui *ui, const char *name, const char *label, const char *note,
                 const char *help, bool selected) {
    ImVec2 text_at = ImGui::GetCursorScreenPos();
    ImGui::PushID(name);
    bool pressed = ImGui::Selectable("##row", selected);
    add_widget_rect(ui, name);
    tooltip(ui, help);
    ui->row_opened = ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0);
    ui->list->AddText(text_at, color_of(ui_theme(ui)->text), label); /* which may have "##" in it */
    float left = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(note).x;
    if (*note && left > ImGui::CalcTextSize(label).x + ImGui::GetFontSize()) {
        float at = ImGui::GetCursorPosX() + left;
        ImGui::SameLine();
        ImGui::SetCursorPosX(at);
        ImGui::TextDisabled("%s", note);
    }
    ImGui::PopID();
    return pressed;
}

bool ui_list_row_opened(const struct ui *ui) {
    return ui->row_opened;
}

void ui_scroll_to_last(struct ui *ui) {
    (void)ui;
    ImGui::ScrollToItem();
}

bool ui_splitter(struct ui *ui, const char *name, double x, double y, double height,
                 double *moved) {
    double grip = 0.5 * ImGui::GetFontSize();
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ui_panel_begin(ui, name, x - grip / 2, y, grip, height, UI_NO_BACKGROUND | UI_ON_TOP);
    ImGui::PopStyleVar();
    ImGui::InvisibleButton("##grip", ImVec2((float)grip, (float)height));
    bool held = ImGui::IsItemActive();
    if (held || ImGui::IsItemHovered()) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
        ui_box(ui, x - grip / 8, y, grip / 4, height, ui_theme(ui)->bar, 1);
    }
    *moved = held ? ImGui::GetIO().MousePos.x - x : 0;
    ui_panel_end(ui);
    return held;
}

void ui_same_line(struct ui *ui) {
    (void)ui;
    ImGui::SameLine();
}

void ui_same_line_for(struct ui *ui, const char *label) {
    const ImGuiStyle &style = ImGui::GetStyle();
    (void)ui;
    double end = ImGui::GetItemRectMax().x + style.ItemSpacing.x + 2 * style.FramePadding.x +
                 ImGui::CalcTextSize(label).x;
    if (end <= ImGui::GetCurrentWindow()->WorkRect.Max.x)
        ImGui::SameLine();
}

void ui_text(struct ui *ui, const char *text) {
    bool breaks = !(ui->panel_flags & UI_AUTO_SIZE) || ui->most_width > 0;
    if (!breaks) {
        ImGui::TextUnformatted(text);
        return;
    }
    float left = ImGui::GetCursorPosX(), right = ImGui::GetContentRegionAvail().x + left;
    right = ui->most_width > 0 ? ui->most_width : right;
    ImGui::PushTextWrapPos(right); /* for words that are longer */
    ImGui::TextUnformatted(break_lines(text, right - left).c_str());
    ImGui::PopTextWrapPos();
}

void ui_text_color(struct ui *ui, unsigned rgb, const char *text) {
    ImGui::PushStyleColor(ImGuiCol_Text, color_of(rgb));
    ui_text(ui, text);
    ImGui::PopStyleColor();
}

void ui_text_line(struct ui *ui, unsigned rgb, const char *text, const char *help) {
    ui_text_line_or(ui, rgb, text, text, help);
}

void ui_text_line_or(struct ui *ui, unsigned rgb, const char *text, const char *shorter,
                     const char *help) {
    ImVec2 at = ImGui::GetCursorScreenPos(),
           size(ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight());
    if (ui->panel_flags & UI_AUTO_SIZE)
        size.x = ImGui::CalcTextSize(text).x;
    ImVec4 clip(at.x, at.y, at.x + size.x, at.y + size.y);
    bool fits = ImGui::CalcTextSize(text).x <= size.x;
    ui->list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, color_of(rgb),
                      fits ? text : shorter, NULL, 0, &clip);
    ImGui::Dummy(size);
    if (!fits && !ui->cut_line[0] && ImGui::CalcTextSize(shorter).x > size.x)
        snprintf(ui->cut_line, sizeof(ui->cut_line), "%s", shorter);
    std::string all = fits ? "" : text;
    if (help)
        all += (all.empty() ? "" : "\n") + std::string(help);
    tooltip(ui, all.c_str());
}

void ui_separator(struct ui *ui) {
    (void)ui;
    ImGui::Separator();
}

void ui_mark_next(struct ui *ui, bool on) {
    ui->mark = on;
}

bool ui_button(struct ui *ui, const char *name, const char *label, const char *help) {
    ImVec4 color = ImGui::GetStyleColorVec4(ui->mark ? ImGuiCol_ButtonActive : ImGuiCol_Button);
    ImGui::PushID(name);
    ImGui::PushStyleColor(ImGuiCol_Button, color);
    bool pressed = ImGui::Button(label);
    ImGui::PopStyleColor();
    ui->mark = false;
    add_widget_rect(ui, name);
    tooltip(ui, help);
    ImGui::PopID();
    return pressed;
}

unsigned ui_texture_make(const unsigned char *data, int width, int height, int channels) {
    GLenum format = channels == 3 ? GL_RGB : GL_RED;
    const GLint grey[] = {GL_RED, GL_RED, GL_RED, GL_ONE};
    unsigned texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    if (channels == 1)
        glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, grey);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, format, GL_UNSIGNED_BYTE, data);
    return texture;
}

void ui_texture_free(unsigned *texture) {
    if (*texture)
        glDeleteTextures(1, texture);
    *texture = 0;
}

/* In the middle of the area, as large as fits. */
static void draw_texture(struct ui *ui, unsigned texture, ImVec2 min, ImVec2 max) {
    GLint width = 0, height = 0;
    if (!texture)
        return;
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    float fit = std::min((max.x - min.x) / (float)width, (max.y - min.y) / (float)height);
    ImVec2 half(fit * (float)width / 2, fit * (float)height / 2);
    ImVec2 middle((min.x + max.x) / 2, (min.y + max.y) / 2);
    ui->list->AddImage((ImTextureID)(intptr_t)texture, ImVec2(middle.x - half.x, middle.y - half.y),
                       ImVec2(middle.x + half.x, middle.y + half.y));
}

bool ui_tile(struct ui *ui, const char *name, const char *label, const char *help, unsigned texture,
             double width, double height) {
    float gap = ImGui::GetStyle().FramePadding.x, line = ImGui::GetTextLineHeight();
    ImVec2 size((float)width, (float)height + line + 2 * gap);
    ImGui::PushID(name);
    bool pressed = ImGui::Button("##tile", size);
    add_widget_rect(ui, name);
    tooltip(ui, help);
    ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    draw_texture(ui, texture, ImVec2(min.x + gap, min.y + gap),
                 ImVec2(max.x - gap, max.y - line - gap));
    ImVec4 clip(min.x, min.y, max.x - gap, max.y);
    ui->list->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                      ImVec2(min.x + gap, max.y - line - gap / 2), color_of(ui_theme(ui)->text),
                      label, NULL, 0, &clip);
    ImGui::PopID();
    return pressed;
}

void ui_table_begin(struct ui *ui, const char *name, int columns) {
    (void)ui;
    ImGui::BeginTable(name, columns, ImGuiTableFlags_SizingStretchSame);
}

void ui_table_next(struct ui *ui) {
    (void)ui;
    ImGui::TableNextColumn();
}

void ui_table_end(struct ui *ui) {
    (void)ui;
    ImGui::EndTable();
}

bool ui_checkbox(struct ui *ui, const char *name, const char *label, const char *help,
                 bool *value) {
    ImGui::PushID(name);
    bool changed = ImGui::Checkbox(label, value);
    add_widget_rect(ui, name);
    tooltip(ui, help);
    ImGui::PopID();
    return changed;
}

/* A small button of a row; at: its place in the panel, or 0 for the next one. */
static bool row_button(struct ui *ui, const char *name, const char *suffix, const char *label,
                       const char *help, float at = 0) {
    ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x / 2);
    if (at > 0)
        ImGui::SetCursorPosX(at);
    ImGui::PushStyleColor(ImGuiCol_Button, 0);
    float side = ImGui::GetFrameHeight();
    bool pressed = ImGui::Button(label, ImVec2(side, side));
    ImGui::PopStyleColor();
    add_widget_rect(ui, name, suffix);
    tooltip(ui, help);
    return pressed;
}

/* The columns of a row: label, value, and small buttons, without those of single steps in a narrow
 * panel. Where the label is too long it stands above its value. */
struct columns {
    float label, value;
    bool beside, steps;
};

static struct columns columns_of(const char *label) {
    const ImGuiStyle &style = ImGui::GetStyle();
    float all = ImGui::GetContentRegionAvail().x, line = ImGui::GetFontSize();
    float button = ImGui::GetFrameHeight() + style.ItemInnerSpacing.x / 2;
    struct columns c = {0.42f * all, 0, false, all > 18 * line};
    c.beside = ImGui::CalcTextSize(label).x + style.ItemInnerSpacing.x <= c.label;
    c.value = all - (c.beside ? c.label : 0) - (c.steps ? 3 : 1) * button;
    return c;
}

/* True when it was clicked. */
static bool row_label(struct ui *ui, const struct ui_row *row, bool changed) {
    if (changed)
        ImGui::PushStyleColor(ImGuiCol_Text, color_of(ui_theme(ui)->changed));
    ImGui::AlignTextToFramePadding();
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(row->label);
    ImGui::PopTextWrapPos();
    if (changed)
        ImGui::PopStyleColor();
    tooltip(ui, row->help);
    return ImGui::IsItemClicked();
}

static int digits_of(double step) {
    if (step < 0.01)
        return 3;
    return step < 0.1 ? 2 : 1;
}

/* Dear ImGui takes a typed value on control-click; here on double-click, too. */
static void take_double_click() {
    ImVec2 min = ImGui::GetCursorScreenPos();
    ImVec2 max(min.x + ImGui::CalcItemWidth(), min.y + ImGui::GetFrameHeight());
    if (ImGui::IsMouseDoubleClicked(0) && ImGui::IsMouseHoveringRect(min, max))
        ImGui::GetIO().KeyCtrl = true;
}

static void bare_slider(const struct ui_row *row, double *value) {
    bool wide = row->min >= 0 && row->max - row->min >= 900 * row->step, control;
    int flags = ImGuiSliderFlags_AlwaysClamp | (wide ? ImGuiSliderFlags_Logarithmic : 0);
    control = ImGui::GetIO().KeyCtrl;
    take_double_click();
    if (row->integer) {
        int v = (int)*value;
        if (ImGui::SliderInt("##slider", &v, (int)row->min, (int)row->max, "%d", flags))
            *value = v;
    } else {
        char format[8];
        snprintf(format, sizeof(format), "%%.%df", digits_of(row->step));
        ImGui::SliderScalar("##slider", ImGuiDataType_Double, value, &row->min, &row->max, format,
                            flags);
    }
    ImGui::GetIO().KeyCtrl = control;
}

/* The label, the widget itself and its buttons. */
template <typename Widget>
static void draw_row(struct ui *ui, const struct ui_row *row, double *value, Widget widget) {
    const struct columns c = columns_of(row->label);
    bool list = row->choices != NULL, box = row->kind == UI_CHECKBOX;
    double before = *value;
    float x = ImGui::GetCursorPosX(), right = x + ImGui::GetContentRegionAvail().x;
    ImGui::PushID(row->name);
    if (row_label(ui, row, before != row->def) && box)
        *value = before == 0;
    if (c.beside) {
        ImGui::SameLine();
        ImGui::SetCursorPosX(x + c.label);
    }
    if (row->read_only)
        ImGui::BeginDisabled();
    ImGui::SetNextItemWidth(c.value);
    widget();
    add_widget_rect(ui, row->name);
    tooltip(ui, row->help);
    if (!box && c.steps) {
        if (row_button(ui, row->name, ".less", list ? "<" : "-",
                       list ? "the previous choice" : "one step less"))
            *value -= row->step;
        if (row_button(ui, row->name, ".more", list ? ">" : "+",
                       list ? "the next choice" : "one step more"))
            *value += row->step;
    }
    char help[64] = "back to the default";
    if (!list && !box)
        snprintf(help, sizeof(help), "back to the default, %.9g", row->def);
    if (before != row->def && row_button(ui, row->name, ".reset", ui->has_font ? RESET : "R", help,
                                         right - ImGui::GetFrameHeight()))
        *value = row->def;
    if (row->read_only)
        ImGui::EndDisabled();
    ImGui::PopID();
}

bool ui_combo(struct ui *ui, const struct ui_row *row, int *value) {
    std::string list = row->choices; /* each choice ends with a zero, the list with another */
    int before = *value, count = 1 + (int)std::count(list.begin(), list.end(), '|');
    std::replace(list.begin(), list.end(), '|', '\0');
    list.push_back('\0');
    struct ui_row combo = *row;
    double number = *value;
    combo.step = 1;
    draw_row(ui, &combo, &number, [&] {
        int chosen = *value;
        if (ImGui::Combo("##choice", &chosen, list.c_str()))
            number = chosen;
    });
    *value = ((int)number + count) % count;
    return *value != before;
}

bool ui_row_draw(struct ui *ui, const struct ui_row *row, double *value) {
    double before = *value;
    int choice = (int)before;
    if (row->kind == UI_COMBO) {
        ui_combo(ui, row, &choice);
        *value = choice;
    } else if (row->kind == UI_CHECKBOX) {
        draw_row(ui, row, value, [&] {
            bool on = before != 0;
            if (ImGui::Checkbox("##box", &on))
                *value = on;
        });
    } else {
        draw_row(ui, row, value, [&] { bare_slider(row, value); });
        *value = std::min(std::max(*value, row->min), row->max);
    }
    return *value != before;
}

bool ui_seek_bar(struct ui *ui, const char *name, const char *help, double min, double max,
                 const char *text, double *value) {
    ImGui::PushID(name);
    ImGui::SetNextItemWidth(-1);
    bool changed = ImGui::SliderScalar("##seek", ImGuiDataType_Double, value, &min, &max, text,
                                       ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
    add_widget_rect(ui, name);
    if (!ImGui::IsItemActive()) /* while it is dragged, the help would cover the picture */
        tooltip(ui, help);
    ImGui::PopID();
    return changed;
}

void ui_focus_next(struct ui *ui) {
    (void)ui;
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
}

bool ui_text_input(struct ui *ui, const char *name, const char *hint, double ratio, char *text,
                   int size) {
    ImGui::PushID(name);
    ImGui::SetNextItemWidth((float)(ImGui::GetContentRegionAvail().x * ratio));
    bool entered = ImGui::InputTextWithHint("##entry", hint, text, (size_t)size,
                                            ImGuiInputTextFlags_EnterReturnsTrue |
                                                ImGuiInputTextFlags_AutoSelectAll);
    add_widget_rect(ui, name);
    ImGui::PopID();
    return entered;
}

void ui_reserve(struct ui *ui, const char *name, double width, double height, double *x,
                double *y) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(ImVec2((float)width, (float)height));
    add_widget_rect(ui, name);
    *x = at.x;
    *y = at.y;
}

void ui_box(struct ui *ui, double x, double y, double width, double height, unsigned rgb,
            double alpha) {
    ui->list->AddRectFilled(ImVec2((float)x, (float)y),
                            ImVec2((float)(x + width), (float)(y + height)), color_of(rgb, alpha));
}

void ui_outline(struct ui *ui, double x, double y, double width, double height, unsigned rgb) {
    ui->list->AddRect(ImVec2((float)x, (float)y), ImVec2((float)(x + width), (float)(y + height)),
                      color_of(rgb));
}

void ui_line(struct ui *ui, double x0, double y0, double x1, double y1, unsigned rgb) {
    ui->list->AddLine(ImVec2((float)x0, (float)y0), ImVec2((float)x1, (float)y1), color_of(rgb),
                      (float)ui->scale);
}

void ui_polyline(struct ui *ui, const float *xy, int count, unsigned rgb) {
    static_assert(sizeof(ImVec2) == 2 * sizeof(float), "points are pairs of floats");
    ui->list->AddPolyline((const ImVec2 *)xy, count, color_of(rgb), 0, (float)ui->scale);
}

void ui_label(struct ui *ui, double x, double y, unsigned rgb, const char *text) {
    unsigned shadow = (rgb >> 8 & 255) > 110 ? 0 : 0xffffff; /* of the other brightness */
    ui->list->AddText(ImVec2((float)x + 1, (float)y + 1), color_of(shadow), text);
    ui->list->AddText(ImVec2((float)x, (float)y), color_of(rgb), text);
}

void ui_tag(struct ui *ui, double x, double y, const char *text) {
    ImVec2 size = ImGui::CalcTextSize(text);
    ui_box(ui, x - 4, y - 2, size.x + 8, size.y + 4, ui_theme(ui)->box, 0.75);
    ui_label(ui, x, y, ui_theme(ui)->box_text, text);
}

void ui_tag_inside(struct ui *ui, const char *name, double x, double y, double left, double top,
                   double width, double height, const char *text) {
    float line = ImGui::GetTextLineHeight();
    std::string lines = break_lines(text, (float)width - line);
    ImVec2 size = ImGui::CalcTextSize(lines.c_str()), screen = ImGui::GetIO().DisplaySize;
    double at_x = std::min(x + 1.6 * line, left + width - size.x - line / 2), at_y = y + 1.7 * line;
    if (at_y + size.y + line / 2 > top + height)
        at_y = y - size.y - line / 2;
    ImVec2 min((float)std::max(at_x, left + line / 2), (float)std::max(at_y, top + line / 2));
    ImVec2 max(min.x + size.x + 4, min.y + size.y + 2);
    ui_tag(ui, min.x, min.y, lines.c_str());
    add_rect(ui, name, "", ImVec2(min.x - 4, min.y - 2), max);
    if (min.x < 4 || min.y < 2 || max.x > screen.x || max.y > screen.y)
        note_cut(ui, name);
}

void ui_notice(struct ui *ui, double x, double y, double width, const char *text) {
    float line = ImGui::GetTextLineHeight(), wrap = (float)width - line;
    std::string lines = break_lines(text, wrap);
    text = lines.c_str();
    ImVec2 size = ImGui::CalcTextSize(text, NULL, false, wrap);
    ImVec2 min((float)x - size.x / 2, (float)y - size.y);
    ImDrawList *before = ui->list;
    ui->list = ImGui::GetForegroundDrawList();
    ui_box(ui, min.x - line / 2, min.y - line / 4, size.x + line, size.y + line / 2,
           ui_theme(ui)->box, 0.75);
    ui->list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), min, color_of(ui_theme(ui)->box_text),
                      text, NULL, wrap);
    ui->list = before;
}

double ui_text_width(struct ui *ui, const char *text) {
    (void)ui;
    return ImGui::CalcTextSize(text).x;
}

double ui_available_width(struct ui *ui) {
    (void)ui;
    return ImGui::GetContentRegionAvail().x;
}

double ui_available_height(struct ui *ui) {
    (void)ui;
    return ImGui::GetContentRegionAvail().y;
}

double ui_next_y(struct ui *ui) {
    (void)ui;
    return ImGui::GetCursorScreenPos().y;
}

double ui_text_height(struct ui *ui) {
    (void)ui;
    return ImGui::GetTextLineHeight();
}

const struct ui_rect *ui_rects(const struct ui *ui, int *count) {
    *count = ui->count;
    return ui->rects;
}

const struct ui_rect *ui_find_rect(const struct ui *ui, const char *name) {
    for (int i = 0; i < ui->count; i++)
        if (strcmp(ui->rects[i].name, name) == 0)
            return &ui->rects[i];
    return NULL;
}

const char *ui_focused(const struct ui *ui) {
    return ui->focused;
}

const char *ui_cut_line(const struct ui *ui) {
    return ui->cut_line[0] ? ui->cut_line : NULL;
}

const char *ui_cut_panel(const struct ui *ui) {
    return ui->cut[0] ? ui->cut : NULL;
}

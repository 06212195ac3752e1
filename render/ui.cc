/*
 * The widgets of render/ui.h, by Dear ImGui (1.86). SPDX-License-Identifier: MIT
 */
#include "render/ui.h"

#include <epoxy/gl.h>
#include <glib.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#define IMGUI_DEFINE_MATH_OPERATORS
#include <imgui.h>
#include <imgui_internal.h> /* ClearActiveID, the wheel of one widget, a column's edge */

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#define MAX_RECTS 1024
#define FRAME_PX 24 /* height of what is pressed */
#define REST_S 0.25 /* of the mouse, before help is shown */

#define FONTS "/usr/share/fonts/truetype/"
#define ROBOTO FONTS "roboto/unhinted/RobotoTTF/Roboto-"
#define ICON_FONT FONTS "material-design-icons-iconfont/MaterialIcons-Regular.ttf"
#define ICON_RATIO 1.38f /* height of an icon to that of the text beside it */

static const struct {
    float px;
    bool medium;
} fonts[UI_FONTS] = {{11, false}, {12, false}, {13, false}, {14, true},
                     {16, true},  {20, true},  {28, true}};

struct key_event {
    int key, scancode, action, mods;
    unsigned character; /* typed; 0: the event of a key */
    bool click;         /* key is the button of the mouse that went down */
};

struct ui {
    double scale;
    enum theme_name theme;
    GLFWwindow *glfw;
    GLFWkeyfun window_on_key;
    GLFWcharfun window_on_character;
    GLFWmousebuttonfun window_on_button;
    ImVector<struct key_event> keys; /* that Dear ImGui has not been told yet */
    ImDrawList *list; /* what lines and boxes are added to: the panel's, or the picture's */
    ImFont *font[UI_FONTS];
    int panel_flags;
    float most_width; /* of the lines of a panel that fits its contents; 0: any */
    bool mark;        /* the next button */
    bool has_icons;
    double moved_s;                       /* when the mouse did last */
    bool help_waits;                      /* for the mouse to rest */
    char *(*complete)(const char *typed); /* the next line of text, or NULL */
    bool completes;                       /* Tab, in the line that takes the keys */
    bool keyboard;                        /* keys go through the widgets of a panel */
    char panel[64];
    char opened[64];  /* the list that is open, whose name its lines begin with */
    ImVec2 list_size; /* of it, as it was drawn last */
    ImGuiID held;     /* the slider that the mouse or the keys hold, and where it is, 0..1 */
    double held_at;
    char focused[64]; /* what the keys have reached */
    char wanted[64];  /* what they are to reach */
    char used[64];    /* ui_used() */
    char cut[64];     /* the first panel that is too small for what it shows */
    char cut_line[128];
    int count;
    struct ui_rect rects[MAX_RECTS];
};

static ImU32 color_of(unsigned rgb, double alpha = 1) {
    return IM_COL32(rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255, (int)lround(alpha * 255));
}

static ImVec2 point(double x, double y) {
    return ImVec2((float)x, (float)y);
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
    if (*ui->wanted && strcmp(ui->wanted, name) == 0) {
        ImGui::SetFocusID(ImGui::GetItemID(), ImGui::GetCurrentWindow());
        ui->wanted[0] = '\0';
    }
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

/* With a capital at the beginning, but for names of parameters, files and sources. */
static std::string sentence(const char *text) {
    std::string out(text);
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    if (word > 0 && strchr(" ,:;", text[word]))
        out[0] = (char)toupper(out[0]);
    return out;
}

/* Beside a panel of settings, or above one that has no room there, so that it covers no value of
 * it; not while anything is dragged. */
static void tooltip(struct ui *ui, const char *help) {
    float left = ImGui::GetWindowPos().x, wrap = (float)(320 * ui->scale);
    if (!help || !*help || !ImGui::IsItemHovered() || ImGui::IsAnyItemActive())
        return;
    if (glfwGetTime() < ui->moved_s + REST_S) {
        ui->help_waits = true;
        return;
    }
    if (ui->panel_flags & UI_DOCKED && left > wrap / 2) {
        wrap = std::min(wrap, left - 2 * ImGui::GetStyle().WindowPadding.x);
        ImGui::SetNextWindowPos(ImVec2(left, ImGui::GetItemRectMin().y), ImGuiCond_Always,
                                ImVec2(1, 0));
    } else if (ui->panel_flags & (UI_DOCKED | UI_BAR)) {
        bool wide = ImGui::GetItemRectSize().x > wrap; /* what it says is of where the mouse is */
        float from = wide ? ImGui::GetIO().MousePos.x : ImGui::GetItemRectMin().x;
        float x = std::min(from, ImGui::GetIO().DisplaySize.x - wrap);
        float y = ImGui::GetWindowPos().y, below = y > 0 ? 0 : ImGui::GetWindowSize().y;
        ImGui::SetNextWindowPos(ImVec2(x, y + below), ImGuiCond_Always, ImVec2(0, y > 0 ? 1 : 0));
    }
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(break_lines(sentence(help).c_str(), wrap).c_str());
    ImGui::EndTooltip();
}

static void end_widget(struct ui *ui, const char *name, const char *help, const char *suffix = "") {
    add_widget_rect(ui, name, suffix);
    tooltip(ui, help);
}

/* Text at a place, in the font of now or another one, cut to an area. */
static void put(struct ui *ui, ImVec2 at, unsigned rgb, const char *text, const ImVec4 *clip = NULL,
                const ImFont *font = ImGui::GetFont()) {
    ui->list->AddText(font, font->FontSize, at, color_of(rgb), text, NULL, 0, clip);
}

static float width_in(const ImFont *font, const char *text) {
    return font->CalcTextSizeA(font->FontSize, 1e6f, 0, text).x;
}

/* A button with a name of its own. */
static bool press(struct ui *ui, const char *name, const char *label, ImVec2 size, ImU32 color,
                  const char *help) {
    ImGui::PushID(name);
    ImGui::PushStyleColor(ImGuiCol_Button, color);
    bool pressed = ImGui::Button(label, size);
    ImGui::PopStyleColor();
    end_widget(ui, name, help);
    ImGui::PopID();
    if (pressed)
        g_strlcpy(ui->used, name, sizeof(ui->used));
    return pressed;
}

static void set_color(ImGuiCol which, unsigned rgb, double alpha = 1) {
    ImGui::GetStyle().Colors[which] = ImGui::ColorConvertU32ToFloat4(color_of(rgb, alpha));
}

static void set_colors(const struct ui *ui) {
    const struct theme *t = ui_theme(ui);
    const struct {
        unsigned rgb;
        std::initializer_list<ImGuiCol> which;
    } own[] = {{t->text, {ImGuiCol_Text}},
               {t->hint, {ImGuiCol_TextDisabled}},
               {t->window, {ImGuiCol_WindowBg, ImGuiCol_ScrollbarBg}},
               {t->card, {ImGuiCol_PopupBg, ImGuiCol_TableRowBg, ImGuiCol_TableRowBgAlt}},
               {t->divider, {ImGuiCol_Border, ImGuiCol_Separator}},
               {t->field, {ImGuiCol_FrameBg, ImGuiCol_Button}},
               {t->hovered,
                {ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ButtonHovered,
                 ImGuiCol_HeaderHovered}},
               {t->selected, {ImGuiCol_ButtonActive, ImGuiCol_Header, ImGuiCol_HeaderActive}},
               {t->edge, {ImGuiCol_ScrollbarGrab}},
               {t->note, {ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive}},
               {t->accent, {ImGuiCol_NavHighlight}}};
    if (ui->theme == THEME_LIGHT)
        ImGui::StyleColorsLight();
    else
        ImGui::StyleColorsDark();
    for (const auto &c : own)
        for (ImGuiCol which : c.which)
            set_color(which, c.rgb);
    set_color(ImGuiCol_TextSelectedBg, t->accent, 0.35);
}

/* A file that is there, or the next best; NULL: the built-in font. */
static const char *font_file(bool medium) {
    const char *const files[] = {medium ? ROBOTO "Medium.ttf" : ROBOTO "Regular.ttf",
                                 FONTS "dejavu/DejaVuSans.ttf"};
    for (const char *file : files)
        if (access(file, R_OK) == 0)
            return file;
    return NULL;
}

static void add_fonts(struct ui *ui) {
    static const ImWchar letters[] = {0x20, 0xff, 0x2212, 0x2212, 0x221e, 0x221e, 0};
    static ImVector<ImWchar> icons;
    ImFontAtlas *atlas = ImGui::GetIO().Fonts;
    if (icons.empty()) {
        ImFontGlyphRangesBuilder builder;
        builder.AddText(ICONS);
        builder.BuildRanges(&icons);
    }
    atlas->Clear();
    ui->has_icons = font_file(false) && access(ICON_FONT, R_OK) == 0;
    for (int i = 0; i < UI_FONTS; i++) {
        float px = (float)std::round(fonts[i].px * ui->scale), icon = std::round(px * ICON_RATIO);
        const char *file = font_file(fonts[i].medium);
        ImFontConfig merged;
        merged.MergeMode = true;
        merged.GlyphOffset.y = std::round(0.22f * icon);
        ImFontConfig built_in;
        built_in.SizePixels = px;
        ui->font[i] = file ? atlas->AddFontFromFileTTF(file, px, NULL, letters)
                           : atlas->AddFontDefault(&built_in);
        if (ui->has_icons && i != UI_NOTE)
            atlas->AddFontFromFileTTF(ICON_FONT, icon, &merged, icons.Data);
    }
    ImGui::GetIO().FontDefault = ui->font[UI_LABEL];
}

/* Around a line of this font, so that what is pressed is FRAME_PX high. */
static float padding_for(struct ui *ui, enum ui_font font) {
    return ((float)round(ui_px(ui, FRAME_PX)) - (float)std::round(fonts[font].px * ui->scale)) / 2;
}

static void set_style(struct ui *ui) {
    ImGuiStyle &style = ImGui::GetStyle();
    style = ImGuiStyle();
    set_colors(ui);
    style.WindowRounding = style.PopupRounding = style.ScrollbarRounding = 6;
    style.FrameRounding = style.GrabRounding = 4;
    style.WindowPadding = ImVec2(12, 8);
    style.FramePadding = ImVec2(8, 5.5f);
    style.ItemSpacing = ImVec2(8, 8);
    style.ItemInnerSpacing = ImVec2(6, 4);
    style.ScrollbarSize = 10;
    style.GrabMinSize = 14;
    style.ScaleAllSizes((float)ui->scale);
    style.WindowBorderSize = 0;
    style.PopupBorderSize = 1;
    style.WindowMinSize = ImVec2(1, 1); /* panels may have any size; scaling would round it to 0 */
    add_fonts(ui);
    style.FramePadding.y = padding_for(ui, UI_LABEL);
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int mods) {
    struct ui *ui = (struct ui *)ImGui::GetIO().UserData;
    ui->window_on_key(glfw, key, scancode, action, mods);
    ui->used[0] = '\0';
    if (key != GLFW_KEY_UNKNOWN)
        ui->keys.push_back({key, scancode, action, mods, 0, false});
}

static void on_character(GLFWwindow *glfw, unsigned character) {
    struct ui *ui = (struct ui *)ImGui::GetIO().UserData;
    ui->window_on_character(glfw, character);
    ui->keys.push_back({0, 0, 0, 0, character, false});
}

static void on_button(GLFWwindow *glfw, int button, int action, int mods) {
    struct ui *ui = (struct ui *)ImGui::GetIO().UserData;
    ui->window_on_button(glfw, button, action, mods);
    if (action == GLFW_PRESS)
        ui->used[0] = '\0';
    if (action == GLFW_PRESS && button < ImGuiMouseButton_COUNT)
        ui->keys.push_back({button, 0, action, mods, 0, true});
}

/* Dear ImGui looks at each drawing which keys are down, and ignores what is typed while Ctrl is or
 * a button goes down. So nothing goes up before the drawing after a key that is no character went
 * down, Ctrl and buttons go down after the drawing that has the characters before them, and
 * characters come after the one that has the click before; what comes later waits. Whether there
 * was a click. */
static bool tell_keys(struct ui *ui) {
    bool went_down = false, typed = false, clicked = false;
    int told = 0;
    for (struct key_event e : ui->keys) {
        if (e.key == GLFW_KEY_TAB && !ui->keyboard && !ImGui::GetIO().WantTextInput)
            e.key = GLFW_KEY_F25; /* else it begins typing into the first slider */
        if (ui->keyboard && e.key == GLFW_KEY_TAB && !ui->completes)
            e.key = e.mods & GLFW_MOD_SHIFT ? GLFW_KEY_UP : GLFW_KEY_DOWN;
        if (ui->keyboard && e.key == GLFW_KEY_ENTER && !ImGui::GetIO().WantTextInput)
            e.key = GLFW_KEY_SPACE;
        bool control = e.key == GLFW_KEY_LEFT_CONTROL || e.key == GLFW_KEY_RIGHT_CONTROL;
        bool follows = e.action == GLFW_RELEASE ? went_down : typed && (control || e.click);
        if (e.character ? clicked : follows)
            break;
        typed |= e.character != 0;
        clicked |= e.click;
        if (e.character) {
            ImGui_ImplGlfw_CharCallback(ui->glfw, e.character);
        } else if (e.click) {
            ImGui_ImplGlfw_MouseButtonCallback(ui->glfw, e.key, e.action, e.mods);
        } else {
            ImGui_ImplGlfw_KeyCallback(ui->glfw, e.key, e.scancode, e.action, e.mods);
            went_down |= e.action != GLFW_RELEASE &&
                         (e.key >= GLFW_KEY_ESCAPE || ui->keyboard || e.mods & GLFW_MOD_CONTROL);
        }
        told++;
    }
    if (told > 0)
        ui->keys.erase(ui->keys.begin(), ui->keys.begin() + told);
    return clicked;
}

bool ui_has_more_keys(const struct ui *ui) {
    return !ui->keys.empty();
}

double ui_help_due(const struct ui *ui) {
    return ui->help_waits ? std::max(0.0, ui->moved_s + REST_S - glfwGetTime()) : -1;
}

struct ui *ui_open(void *glfw, double scale) {
    struct ui *ui = g_new0(struct ui, 1);
    ui->scale = scale;
    ui->glfw = (GLFWwindow *)glfw;
    ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.UserData = ui;
    io.IniFilename = NULL; /* else it writes a file into the current folder */
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.ConfigDragClickToInputText = true; /* a click lets a value be typed, a drag changes it */
    set_style(ui);
    ui->window_on_key = glfwSetKeyCallback(ui->glfw, NULL);
    ui->window_on_character = glfwSetCharCallback(ui->glfw, NULL);
    ui->window_on_button = glfwSetMouseButtonCallback(ui->glfw, NULL);
    ImGui_ImplGlfw_InitForOpenGL(ui->glfw, true);
    glfwSetKeyCallback(ui->glfw, on_key);
    glfwSetCharCallback(ui->glfw, on_character);
    glfwSetMouseButtonCallback(ui->glfw, on_button);
    ImGui_ImplOpenGL3_Init("#version 330 core");
    return ui;
}

double ui_px(const struct ui *ui, double px) {
    return std::round(px * ui->scale);
}

void ui_set_scale(struct ui *ui, double scale) {
    ui->scale = scale;
    set_style(ui);
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
    g_free(*ui);
    *ui = NULL;
}

void ui_begin(struct ui *ui) {
    ui->count = 0;
    ui->cut[0] = ui->cut_line[0] = ui->focused[0] = '\0';
    bool clicked = tell_keys(ui);
    ImGuiIO &io = ImGui::GetIO();
    io.ConfigFlags = ui->keyboard ? ImGuiConfigFlags_NavEnableKeyboard : 0;
    ui->keyboard = false;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    for (const struct key_event &e : ui->keys) /* its click waits for the characters before it */
        io.MouseDown[e.key & 7] &= !e.click || clicked;
    ImGui::NewFrame();
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || ImGui::IsMouseDown(0))
        ui->moved_s = glfwGetTime();
    ui->help_waits = false;
    ui->list = ImGui::GetBackgroundDrawList();
}

void ui_end(struct ui *) {
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool ui_wants_mouse(const struct ui *) {
    return ImGui::GetIO().WantCaptureMouse;
}

bool ui_keeps_mouse(const struct ui *) {
    const ImGuiIO &io = ImGui::GetIO();
    bool held = false;
    for (int i = 0; i < ImGuiMouseButton_COUNT; i++)
        held |= io.MouseDown[i] && io.MouseDownOwned[i];
    return held || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

bool ui_wants_keys(const struct ui *) {
    return ImGui::GetIO().WantTextInput || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

void ui_stop_typing(struct ui *) {
    ImGui::ClearActiveID();
    ImGui::GetIO().WantTextInput = false;
    ImGui::GetCurrentContext()->WantTextInputNextFrame = 0;
}

static void note_cut(struct ui *ui, const char *panel) {
    if (!ui->cut[0])
        snprintf(ui->cut, sizeof(ui->cut), "%s", panel);
}

/* Lines where a panel meets another one or the picture: at its left, and above it or, at the top of
 * the window, below it. */
static void draw_edges(struct ui *ui, ImVec2 min, ImVec2 max) {
    unsigned rgb = ui_theme(ui)->divider;
    double y = min.y > 0 ? min.y : max.y - 1;
    ui->list->PushClipRect(min, max);
    ui_box(ui, min.x, y, max.x - min.x, 1, rgb, 1);
    if (min.x > 0)
        ui_box(ui, min.x, min.y, 1, max.y - min.y, rgb, 1);
    ui->list->PopClipRect();
}

/* Dear ImGui's flags for those of a panel. */
static int window_flags(int flags) {
    int f = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
            ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoTitleBar;
    if (!(flags & UI_KEYBOARD))
        f |= ImGuiWindowFlags_NoNav;
    bool covers = flags & UI_ON_TOP && flags & UI_DOCKED; /* those that appeared before it */
    if (!(flags & UI_ON_TOP) || covers)
        f |= ImGuiWindowFlags_NoBringToFrontOnFocus;
    if (!(flags & UI_KEYBOARD) && (!(flags & UI_ON_TOP) || flags & UI_DOCKED))
        f |= ImGuiWindowFlags_NoFocusOnAppearing; /* else it takes the keys from a panel */
    if (flags & UI_AUTO_SIZE)
        f |= ImGuiWindowFlags_AlwaysAutoResize;
    if (!(flags & UI_SCROLL))
        f |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    return f;
}

void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags) {
    bool covers = flags & UI_ON_TOP && flags & UI_DOCKED;
    ui->keyboard |= (flags & UI_KEYBOARD) != 0;
    if (flags & UI_FROM_TOP)
        ImGui::SetNextWindowScroll(ImVec2(0, 0));
    float corner = flags & UI_CORNER ? 1 : 0;
    ImGui::SetNextWindowPos(point(x, y), ImGuiCond_Always, ImVec2(corner, corner));
    if (!(flags & UI_AUTO_SIZE))
        ImGui::SetNextWindowSize(point(width, height));
    ImVec2 padding = ImGui::GetStyle().WindowPadding;
    if (flags & UI_BAR)
        padding.y = std::floor(((float)height - ImGui::GetFrameHeight()) / 2);
    if (flags & UI_TIGHT)
        padding = ImVec2(0, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding,
                        flags & (UI_DOCKED | UI_BAR) && !(flags & UI_CORNER)
                            ? 0
                            : ImGui::GetStyle().WindowRounding);
    bool floats = flags & UI_AUTO_SIZE || (flags & UI_EDGED && flags & UI_ON_TOP);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize,
                        floats ? ImGui::GetStyle().PopupBorderSize : 0);
    ImGui::Begin(name, NULL, window_flags(flags));
    ImGui::PopStyleVar(3);
    if (flags & UI_FRONT || (covers && ImGui::IsWindowAppearing()))
        ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ui->list = ImGui::GetWindowDrawList();
    bool keys_before = ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard;
    if (flags & UI_KEYBOARD && (ImGui::IsWindowAppearing() || !keys_before)) {
        ImGui::SetWindowFocus();
        if (flags & UI_DOCKED) { /* the first widget of a panel is marked */
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
    ImVec2 max = min + size, screen = ImGui::GetIO().DisplaySize;
    add_rect(ui, "panel.", name, min, max);
    if (flags & UI_EDGED && !floats)
        draw_edges(ui, min, max);
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

bool ui_group(struct ui *ui, const char *name, bool open) {
    std::string title = std::string(1, (char)toupper(*name)) + (name + 1) + "###" + name;
    ImGui::PushStyleColor(ImGuiCol_Header, 0);
    ui_push_font(ui, UI_HEADING);
    bool shown = ImGui::CollapsingHeader(title.c_str(), open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
    ui_pop_font(ui);
    ImGui::PopStyleColor();
    add_widget_rect(ui, "group.", name);
    return shown;
}

/* A line that is clicked, with a note at its right edge; text leaves so much room at its left. */
static bool list_line(struct ui *ui, const char *id, const char *label, const char *note, bool on,
                      float indent) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    float high = ImGui::GetFrameHeight(), width = ImGui::GetContentRegionAvail().x;
    ImGui::PushID(id);
    bool pressed = ImGui::Selectable("##line", on, 0, ImVec2(0, high));
    ImGui::PopID();
    at.y += (high - ImGui::GetFontSize()) / 2;
    indent += ImGui::GetFontSize() / 2;
    float left = width - ImGui::CalcTextSize(note).x - ImGui::GetFontSize() / 2;
    put(ui, ImVec2(at.x + indent, at.y), ui_theme(ui)->text, label);
    if (*note && left > indent + ImGui::CalcTextSize(label).x + ImGui::GetFontSize())
        put(ui, ImVec2(at.x + left, at.y), ui_theme(ui)->note, note);
    return pressed;
}

void ui_same_line(struct ui *) {
    ImGui::SameLine();
}

void ui_same_line_for(struct ui *, const char *label) {
    const ImGuiStyle &style = ImGui::GetStyle();
    double end = ImGui::GetItemRectMax().x + style.ItemSpacing.x + 2 * style.FramePadding.x +
                 ImGui::CalcTextSize(label).x;
    if (end <= ImGui::GetCurrentWindow()->WorkRect.Max.x)
        ImGui::SameLine();
}

void ui_align_right(struct ui *, double width) {
    ImGui::SameLine();
    float left = ImGui::GetContentRegionAvail().x - (float)width;
    if (left > 0)
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + left);
}

void ui_push_font(struct ui *ui, enum ui_font font) {
    ImGui::PushFont(ui->font[font]);
}

void ui_pop_font(struct ui *) {
    ImGui::PopFont();
}

void ui_print(struct ui *ui, unsigned rgb, enum ui_font font, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    ImGui::PushStyleColor(ImGuiCol_Text, color_of(rgb));
    ImGui::PushFont(font < UI_FONTS ? ui->font[font] : ImGui::GetFont());
    bool breaks = !(ui->panel_flags & UI_AUTO_SIZE) || ui->most_width > 0;
    float left = ImGui::GetCursorPosX(), right = ImGui::GetContentRegionAvail().x + left;
    right = ui->most_width > 0 ? ui->most_width : right;
    ImGui::PushTextWrapPos(breaks ? right : -1); /* for words that are longer */
    ImGui::TextUnformatted(breaks ? break_lines(text, right - left).c_str() : text);
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    ImGui::PopStyleColor();
}

void ui_text_line(struct ui *ui, unsigned rgb, const char *text, const char *shorter,
                  const char *help) {
    float high = ui->panel_flags & UI_BAR ? ImGui::GetFrameHeight() : ImGui::GetTextLineHeight();
    float words = ImGui::CalcTextSize(text).x;
    ImVec2 at = ImGui::GetCursorScreenPos(), size(ImGui::GetContentRegionAvail().x, high);
    if (ui->panel_flags & UI_AUTO_SIZE || (ui->panel_flags & UI_BAR && words < size.x))
        size.x = words;
    ImVec4 clip(at.x, at.y, at.x + size.x, at.y + size.y);
    bool fits = words <= size.x;
    put(ui, ImVec2(at.x, at.y + (high - ImGui::GetFontSize()) / 2), rgb, fits ? text : shorter,
        &clip);
    ImGui::Dummy(size);
    if (!fits && !ui->cut_line[0] && ImGui::CalcTextSize(shorter).x > size.x)
        snprintf(ui->cut_line, sizeof(ui->cut_line), "%s", shorter);
    std::string all = fits ? "" : text;
    if (help)
        all += (all.empty() ? "" : "\n") + std::string(help);
    tooltip(ui, all.c_str());
}

void ui_separator(struct ui *) {
    ImGui::Separator();
}

void ui_mark_next(struct ui *ui, bool on) {
    ui->mark = on;
}

bool ui_button(struct ui *ui, const char *name, const char *label, const char *help) {
    const struct theme *theme = ui_theme(ui);
    bool marked = ui->mark;
    ui->mark = false;
    ImGui::PushStyleColor(ImGuiCol_Border, color_of(theme->edge));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    bool pressed = press(ui, name, label, ImVec2(0, 0),
                         color_of(marked ? theme->selected : theme->field), help);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    return pressed;
}

bool ui_has_icons(const struct ui *ui) {
    return ui->has_icons;
}

/* The icon in a font that has icons. */
static float icon_width(const struct ui *ui, const char *icon) {
    return icon && ui->has_icons ? ImGui::CalcTextSize(icon).x : 0;
}

double ui_tool_width(struct ui *ui, const char *icon, const char *label) {
    const ImGuiStyle &style = ImGui::GetStyle();
    float words = label ? ImGui::CalcTextSize(label).x : 0, picture = icon_width(ui, icon);
    return 1.5f * style.FramePadding.x + words + picture +
           (words > 0 && picture > 0 ? style.ItemInnerSpacing.x : 0);
}

/* An icon at the left of an area and words at its right, either of which may be NULL. */
static void draw_words(struct ui *ui, ImVec2 at, ImVec2 size, const char *icon, unsigned icon_rgb,
                       const char *words, unsigned rgb) {
    float padding = 0.75f * ImGui::GetStyle().FramePadding.x;
    at.y += (size.y - ImGui::GetFontSize()) / 2;
    if (icon_width(ui, icon) > 0)
        put(ui, ImVec2(at.x + padding, at.y), icon_rgb, icon);
    if (words)
        put(ui, ImVec2(at.x + size.x - padding - ImGui::CalcTextSize(words).x, at.y), rgb, words);
}

bool ui_tool(struct ui *ui, const char *name, const char *icon, const char *label, const char *help,
             unsigned rgb) {
    const struct theme *theme = ui_theme(ui);
    if (!ui->has_icons && !label)
        label = name + (strchr(name, '.') ? strcspn(name, ".") + 1 : 0);
    ImVec2 size((float)ui_tool_width(ui, icon, label), ImGui::GetFrameHeight());
    ImVec2 at = ImGui::GetCursorScreenPos();
    bool pressed = press(ui, name, "##tool", size, ui->mark ? color_of(theme->selected) : 0, help);
    unsigned color = ui->mark ? theme->accent : theme->text;
    draw_words(ui, at, size, icon, rgb ? rgb : color, label, theme->text);
    ui->mark = false;
    return pressed;
}

bool ui_tab(struct ui *ui, const char *name, const char *icon, const char *label, const char *help,
            bool on, double x, double y, double width, double height) {
    const struct theme *theme = ui_theme(ui);
    ImGui::SetCursorScreenPos(point(x, y));
    bool pressed = press(ui, name, "##tab", point(width, height), 0, help);
    const ImFont *small = ui->font[UI_NOTE];
    float picture = icon_width(ui, icon), middle = (float)(x + width / 2),
          line = ImGui::GetFontSize();
    bool words = label || !ui->has_icons;
    const char *word = label ? label : strchr(name, '.') + 1;
    double above = words ? 0.18 * height : (height - line) / 2;
    if (picture > 0)
        put(ui, ImVec2(middle - picture / 2, (float)(y + above)), on ? theme->accent : theme->note,
            icon);
    if (words)
        put(ui,
            ImVec2(middle - width_in(small, word) / 2,
                   (float)(y + height) - 1.6f * small->FontSize),
            on ? theme->text : theme->note, word, NULL, small);
    if (on && label)
        ui_box(ui, x + 0.1 * width, y + height - ui_px(ui, 2), 0.8 * width, ui_px(ui, 2),
               theme->accent, 1);
    else if (on)
        ui_box(ui, x, y, ui_px(ui, 2), height, theme->accent, 1);
    return pressed;
}

/* ---- lists */

static bool open_list(struct ui *ui, const char *name, ImVec2 below, float width) {
    const ImGuiStyle &style = ImGui::GetStyle();
    ImVec2 screen = ImGui::GetIO().DisplaySize;
    below.x = std::max(0.0f, std::min(below.x, screen.x - ui->list_size.x));
    below.y = std::max(0.0f, std::min(below.y, screen.y - ui->list_size.y));
    ImGui::SetNextWindowPos(below);
    ImGui::SetNextWindowSizeConstraints(ImVec2(width, 0), screen);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, style.ItemInnerSpacing);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    bool open = ImGui::BeginPopup("##list", ImGuiWindowFlags_NoMove);
    if (!open) {
        ImGui::PopStyleVar(2);
        return false;
    }
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape), false))
        ImGui::CloseCurrentPopup();
    ui->list = ImGui::GetWindowDrawList();
    snprintf(ui->opened, sizeof(ui->opened), "%s", name);
    ui->list_size = ImGui::GetWindowSize();
    add_rect(ui, "panel.", "list", ImGui::GetWindowPos(), ImGui::GetWindowPos() + ui->list_size);
    return true;
}

bool ui_menu_begin(struct ui *ui, const char *name, enum ui_font font, const char *icon,
                   const char *label, const char *help) {
    std::string words = label ? label : "";
    words += ui->has_icons ? " " ICON_LIST : "";
    ui_push_font(ui, font); /* of the tool alone: a list has a texture stack of its own */
    bool pressed = ui_tool(ui, name, icon, label ? words.c_str() : NULL, help, 0);
    ui_pop_font(ui);
    ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    ImGui::PushID(name);
    if (pressed)
        ImGui::OpenPopup("##list");
    float width = 12 * ImGui::GetFontSize();
    min.x = std::max(0.0f, std::min(min.x, ImGui::GetIO().DisplaySize.x - 1.6f * width));
    if (open_list(ui, name, ImVec2(min.x, max.y), width))
        return true;
    ImGui::PopID();
    return false;
}

static void close_list(struct ui *ui) {
    ui->opened[0] = '\0';
    ImGui::EndPopup();
    ImGui::PopStyleVar(2);
    ui->list = ImGui::GetWindowDrawList();
}

void ui_list_close(struct ui *) {
    ImGui::CloseCurrentPopup();
}

void ui_list_end(struct ui *ui) {
    close_list(ui);
    ImGui::PopID();
}

/* A picture of 256 colours, near at the left, as in the legends. */
static void draw_swatch(struct ui *ui, ImVec2 at, ImVec2 size, const unsigned char (*colors)[3]) {
    enum { PARTS = 32 };
    for (int i = 0; i < PARTS; i++) {
        const unsigned char *c = colors[255 - i * 255 / (PARTS - 1)];
        ui_box(ui, at.x + size.x * i / PARTS, at.y, size.x / PARTS + 0.5, size.y,
               (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2], 1);
    }
}

bool ui_item(struct ui *ui, const char *name, const char *label, const char *note, const char *help,
             bool on, const unsigned char (*colors)[3]) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    float line = ImGui::GetFontSize(), wide = 3.5f * line;
    float all =
        ImGui::CalcTextSize(label).x + ImGui::CalcTextSize(note).x + 3 * line + (colors ? wide : 0);
    if (*ui->opened) /* a popup is as wide as its widest line, which it knows only from before */
        ImGui::Dummy(ImVec2(all, 0));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    bool pressed = list_line(ui, name, label, note, on, colors ? wide : 0);
    ImGui::PopStyleVar();
    std::string whole = *ui->opened ? std::string(ui->opened) + "." + name : name;
    std::transform(whole.begin(), whole.end(), whole.begin(), tolower);
    end_widget(ui, whole.c_str(), help);
    if (colors)
        draw_swatch(ui, ImVec2(at.x + line / 2, at.y + (ImGui::GetFrameHeight() - line) / 2),
                    ImVec2(wide - line, line), colors);
    return pressed;
}

/* ---- pictures */

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

/* Fills the area with the middle of the picture. */
static void draw_texture(struct ui *ui, unsigned texture, ImVec2 min, ImVec2 max) {
    GLint width = 1, height = 1;
    ui->list->AddRectFilled(min, max, color_of(ui_theme(ui)->canvas));
    if (!texture)
        return;
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    float picture = (float)width / (float)height, area = (max.x - min.x) / (max.y - min.y);
    float u = picture > area ? (1 - area / picture) / 2 : 0;
    float v = picture < area ? (1 - picture / area) / 2 : 0;
    ui->list->AddImage((ImTextureID)(intptr_t)texture, min, max, ImVec2(u, v),
                       ImVec2(1 - u, 1 - v));
}

bool ui_tile(struct ui *ui, const char *name, const char *label, const char *note, const char *help,
             unsigned texture, double width, double height) {
    float gap = ImGui::GetStyle().FramePadding.x, line = ImGui::GetTextLineHeight();
    float words = 2 * line + 2.5f * gap;
    ImVec2 size((float)width, (float)height + words);
    bool pressed = press(ui, name, "##tile", size, color_of(ui_theme(ui)->card), help);
    ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    draw_texture(ui, texture, min, ImVec2(max.x, max.y - words));
    ImVec4 clip(min.x, min.y, max.x - gap, max.y);
    ImVec2 at(min.x + gap, max.y - words + gap);
    put(ui, at, ui_theme(ui)->text, label, &clip);
    put(ui, ImVec2(at.x, at.y + line + gap / 2), ui_theme(ui)->note, note, &clip,
        ui->font[UI_NOTE]);
    ui->list->AddRect(min, max, color_of(ui->mark ? ui_theme(ui)->accent : ui_theme(ui)->divider),
                      ImGui::GetStyle().FrameRounding);
    ui->mark = false;
    return pressed;
}

void ui_table_begin(struct ui *, const char *name, int columns, bool filled) {
    int card = filled ? ImGuiTableFlags_RowBg | ImGuiTableFlags_PadOuterX : 0;
    ImVec2 gap = ImGui::GetStyle().ItemSpacing, bare(columns > 1 ? gap.x : 0, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, filled ? ImVec2(1.5f * gap.x, gap.y) : bare);
    ImGui::BeginTable(name, columns, ImGuiTableFlags_SizingStretchSame | card);
}

void ui_table_next(struct ui *) {
    ImGui::TableNextColumn();
    ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset = 0; /* each column has its own lines */
}

/* Cards have a gap between them. */
void ui_table_end(struct ui *ui) {
    const ImGuiTable *table = ImGui::GetCurrentTable();
    bool cards = table->Flags & ImGuiTableFlags_RowBg;
    float gap = ImGui::GetStyle().ItemSpacing.x;
    ImGui::EndTable();
    ImGui::PopStyleVar();
    for (int i = 1; i < table->ColumnsCount && cards; i++)
        ui_box(ui, table->Columns[i].MinX - gap, table->OuterRect.Min.y, gap,
               table->OuterRect.GetHeight(), ui_theme(ui)->window, 1);
}

/* ---- rows */

/* The label and, where the user has changed the value, a mark; true when that was clicked. Then the
 * place for the value, *width px wide, which is below a label that is too long. */
static bool begin_row(struct ui *ui, const struct ui_row *row, float *width) {
    float x = ImGui::GetCursorPosX(), all = ImGui::GetContentRegionAvail().x;
    float label = std::min(0.45f * all, (float)ui_px(ui, 104)), line = ImGui::GetFontSize();
    bool beside = ImGui::CalcTextSize(row->label).x + line / 2 <= label, reset = false;
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(row->name);
    ImGui::AlignTextToFramePadding();
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(row->label);
    ImGui::PopTextWrapPos();
    if (row->changed) {
        float left = at.x - 0.6f * line, high = ImGui::GetFrameHeight();
        ImRect seen = ImGui::GetCurrentWindow()->InnerRect; /* its column ends at the label */
        ui->list->PushClipRect(seen.Min, seen.Max);
        ui_box(ui, left, at.y + high / 4, ui_px(ui, 4), high / 2, ui_theme(ui)->accent, 1);
        ui->list->PopClipRect();
        add_widget_rect(ui, row->name, ".reset");
        reset = ImGui::IsItemClicked();
        std::string help = std::string(row->help) + "\nchanged by you; a click here resets it";
        tooltip(ui, help.c_str());
    } else {
        tooltip(ui, row->help);
    }
    if (row->automatic) {
        ImVec2 end = ImGui::GetItemRectMax();
        put(ui, ImVec2(end.x + line / 4, at.y + (ImGui::GetFrameHeight() - line) / 2 + 1),
            ui_theme(ui)->hint, "auto", NULL, ui->font[UI_NOTE]);
    }
    if (beside) {
        ImGui::SameLine();
        ImGui::SetCursorPosX(x + label);
    }
    if (row->read_only)
        ImGui::BeginDisabled();
    *width = all - (beside ? label : 0);
    return reset;
}

static void end_row(const struct ui_row *row) {
    if (row->read_only)
        ImGui::EndDisabled();
    ImGui::PopID();
}

static int digits_of(double step) {
    return (step < 1) + (step < 0.1) + (step < 0.01);
}

/* Where a value is on its slider, 0..1, and the value at a place; on a wide one steps grow, and one
 * of real numbers ends at ten times the default: what is beyond is typed. */
static bool is_wide(const struct ui_row *row) {
    return row->min >= 0 && row->max - row->min >= 300 * row->step;
}

static double end_of(const struct ui_row *row) {
    bool cut = is_wide(row) && !row->integer && row->def > 0;
    return cut ? std::min(row->max, 10 * row->def) : row->max;
}

static double place_of(const struct ui_row *row, double value) {
    double end = end_of(row), at = end > row->min ? (value - row->min) / (end - row->min) : 0;
    return is_wide(row) ? std::cbrt(at) : at;
}

static double value_at(const struct ui_row *row, double at) {
    double value = row->min + (end_of(row) - row->min) * (is_wide(row) ? at * at * at : at);
    return row->step > 0 ? row->step * std::round(value / row->step) : value;
}

/* A thin track whose left part has the accent, up to the knob. */
static void draw_track(struct ui *ui, ImVec2 min, ImVec2 max, float at) {
    float y = (min.y + max.y) / 2, thick = (float)ui_px(ui, 2), inset = (float)ui_px(ui, 7);
    ImVec2 a(min.x + inset, y - thick), b(max.x - inset, y + thick);
    ImVec2 knob(a.x + at * (b.x - a.x), y);
    unsigned accent = color_of(ui_theme(ui)->accent);
    ui->list->AddRectFilled(a, b, color_of(ui_theme(ui)->edge), thick);
    ui->list->AddRectFilled(a, ImVec2(knob.x, b.y), accent, thick);
    ui->list->AddCircleFilled(knob, (float)ui_px(ui, 6.5), accent);
    ui->list->AddCircleFilled(knob, (float)ui_px(ui, 5), color_of(0xffffff));
}

/* A slider from 0 to 1. True when *at changed. */
static bool bare_slider(struct ui *ui, const char *name, float width, double *at) {
    const double zero = 0, one = 1;
    ImGui::SetNextItemWidth(width);
    for (ImGuiCol color : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
                           ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})
        ImGui::PushStyleColor(color, 0);
    bool changed = ImGui::SliderScalar("##slider", ImGuiDataType_Double, at, &zero, &one, "",
                                       ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
    ImGui::PopStyleColor(5);
    add_widget_rect(ui, name);
    draw_track(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
               (float)std::min(1.0, std::max(0.0, *at)));
    return changed;
}

/* The wheel turns what the mouse is on by steps, where it does not turn the panel. */
static void take_wheel(const struct ui_row *row, double *value) {
    if (!ImGui::IsItemHovered() || row->read_only || ImGui::GetScrollMaxY() > 0)
        return;
    ImGui::SetItemUsingMouseWheel();
    *value += row->step * std::round(ImGui::GetIO().MouseWheel);
}

static void draw_slider(struct ui *ui, const struct ui_row *row, float width, double *value) {
    float field = std::min(0.42f * width, (float)ui_px(ui, 58));
    /* what is held stays where the mouse is, even where its value has coarser steps */
    ImGuiID id = ImGui::GetID("##slider");
    bool held = ImGui::GetActiveID() == id && ui->held == id;
    double at = held ? ui->held_at : place_of(row, *value), before = at;
    float gap = ImGui::GetStyle().ItemInnerSpacing.x;
    if (bare_slider(ui, row->name, width - field - gap, &at)) {
        double now = value_at(row, at);
        double step = at > before ? row->step : -row->step;
        *value = !ImGui::IsMouseDown(0) && now == *value ? now + step : now; /* by keys */
    }
    if (ImGui::GetActiveID() == id) {
        ui->held = id;
        ui->held_at = at;
    }
    tooltip(ui, row->help);
    take_wheel(row, value);
    ImGui::SameLine(0, gap);
    std::string format = "%." + std::to_string(row->integer ? 0 : digits_of(row->step)) + "f";
    if (row->unit)
        format += *row->unit == '%' ? " %%" : std::string(" ") + row->unit;
    if (row->low && *value <= row->min)
        format = row->low;
    ImGui::SetNextItemWidth(field);
    ImGui::PushStyleColor(ImGuiCol_Border, color_of(ui_theme(ui)->edge));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(2, padding_for(ui, UI_VALUE)));
    ui_push_font(ui, UI_VALUE);
    ImGui::DragScalar("##value", ImGuiDataType_Double, value, (float)(row->step / 4), &row->min,
                      &row->max, format.c_str(), ImGuiSliderFlags_AlwaysClamp);
    ui_pop_font(ui);
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    end_widget(ui, row->name, "drag it, or click to type", ".value");
    take_wheel(row, value);
}

static void draw_switch(struct ui *ui, const struct ui_row *row, double *value) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    float high = ImGui::GetFrameHeight(), wide = (float)ui_px(ui, 30), radius = high / 3;
    if (ImGui::InvisibleButton("##switch", ImVec2(wide, high)))
        *value = *value == 0;
    end_widget(ui, row->name, row->help);
    ImGui::RenderNavHighlight(ImRect(at, ImVec2(at.x + wide, at.y + high)), ImGui::GetItemID());
    bool on = *value != 0;
    const struct theme *theme = ui_theme(ui);
    ImVec2 min(at.x, at.y + high / 2 - radius), max(at.x + wide, at.y + high / 2 + radius);
    ui->list->AddRectFilled(min, max, color_of(on ? theme->accent : theme->edge), radius);
    ImVec2 knob(on ? max.x - radius : min.x + radius, at.y + high / 2);
    ui->list->AddCircleFilled(knob, 0.75f * radius, color_of(on ? theme->window : theme->card));
    if (row->note) {
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextDisabled("%s", row->note);
    }
}

bool ui_switch(struct ui *ui, const char *name, const char *label, const char *help, bool *value) {
    struct ui_row row = {};
    double on = *value;
    row.name = name;
    row.help = help;
    ImGui::PushID(name);
    draw_switch(ui, &row, &on);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::PopID();
    bool changed = ImGui::IsItemClicked() || (on != 0) != *value;
    *value ^= changed;
    return changed;
}

/* Calls visit with the number and the text of each of "a|b|c". */
template <typename Visit> static void each_choice(const char *choices, Visit visit) {
    for (int i = 0; choices; i++) {
        size_t length = strcspn(choices, "|");
        visit(i, std::string(choices, length));
        choices = choices[length] ? choices + length + 1 : NULL;
    }
}

static void draw_segments(struct ui *ui, const struct ui_row *row, float width, double *value) {
    float count = 0, words = 0, high = ImGui::GetFrameHeight();
    each_choice(row->choices, [&](int, const std::string &choice) {
        count++;
        words += ImGui::CalcTextSize(choice.c_str()).x;
    });
    bool tight = words + count * (float)ui_px(ui, 6) > width;
    float scale = tight ? ui->font[UI_NOTE]->FontSize / ImGui::GetFontSize() : 1;
    float space = (width - words * scale) / count;
    ui_push_font(ui, tight ? UI_NOTE : UI_LABEL);
    ImVec2 at = ImGui::GetCursorScreenPos(), end(at.x + width, at.y + high);
    float corner = ImGui::GetStyle().FrameRounding;
    ui->list->AddRectFilled(at, end, color_of(ui_theme(ui)->field), corner);
    ui->list->AddRect(at, end, color_of(ui_theme(ui)->edge), corner);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, ImGui::GetStyle().FramePadding.y));
    each_choice(row->choices, [&](int i, const std::string &choice) {
        bool on = (int)*value == i;
        if (i > 0)
            ImGui::SameLine(0, 0);
        ImGui::PushStyleColor(ImGuiCol_Button, on ? color_of(ui_theme(ui)->selected) : 0);
        float wide = ImGui::CalcTextSize(choice.c_str()).x + space;
        if (ImGui::Button(choice.c_str(), ImVec2(wide, high)))
            *value = i;
        ImGui::PopStyleColor();
        std::string name = std::string(row->name) + "." + choice;
        std::transform(name.begin(), name.end(), name.begin(), tolower);
        end_widget(ui, name.c_str(), row->help);
        if (on) {
            ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
            ui_box(ui, min.x, max.y - ui_px(ui, 2), max.x - min.x, ui_px(ui, 2),
                   ui_theme(ui)->accent, 1);
        }
    });
    ui_pop_font(ui);
    ImGui::PopStyleVar();
}

/* A field of a list with what is chosen; true while the list is open. */
static bool list_field(struct ui *ui, const struct ui_row *row, const char *shown, float width,
                       const unsigned char (*colors)[3]) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    float high = ImGui::GetFrameHeight(), line = ImGui::GetFontSize();
    float left = at.x + ImGui::GetStyle().FramePadding.x, arrow = icon_width(ui, ICON_LIST);
    bool pressed = ImGui::Button("##field", ImVec2(width, high));
    end_widget(ui, row->name, row->help);
    ui->list->AddRect(at, ImVec2(at.x + width, at.y + high), color_of(ui_theme(ui)->edge),
                      ImGui::GetStyle().FrameRounding);
    float y = at.y + (high - line) / 2;
    if (colors)
        draw_swatch(ui, ImVec2(left, y), ImVec2(2.5f * line, line), colors);
    left += colors ? 3 * line : 0;
    ImVec4 clip(left, at.y, at.x + width - arrow - line / 2, at.y + high);
    put(ui, ImVec2(left, y), ui_theme(ui)->text, shown, &clip);
    put(ui, ImVec2(at.x + width - arrow - line / 3, y), ui_theme(ui)->note,
        ui->has_icons ? ICON_LIST : "");
    if (pressed)
        ImGui::OpenPopup("##list");
    return open_list(ui, row->name, ImVec2(at.x, at.y + high), width);
}

static void draw_choices(struct ui *ui, const struct ui_row *row, float width, double *value) {
    std::string shown;
    int now = (int)*value;
    each_choice(row->choices, [&](int i, const std::string &choice) {
        if (i == now)
            shown = choice;
    });
    if (!list_field(ui, row, shown.c_str(), width, row->colors ? row->colors[now] : NULL))
        return;
    each_choice(row->choices, [&](int i, const std::string &choice) {
        if (ui_item(ui, choice.c_str(), choice.c_str(), "", NULL, i == now,
                    row->colors ? row->colors[i] : NULL))
            *value = i;
    });
    close_list(ui);
}

bool ui_row_draw(struct ui *ui, const struct ui_row *row, double *value) {
    double before = *value;
    float width;
    if (begin_row(ui, row, &width))
        *value = row->def;
    if (row->kind == UI_COMBO)
        draw_choices(ui, row, width, value);
    else if (row->kind == UI_SEGMENTS)
        draw_segments(ui, row, width, value);
    else if (row->kind == UI_SWITCH)
        draw_switch(ui, row, value);
    else
        draw_slider(ui, row, width, value);
    if (row->kind == UI_SLIDER && *value != before)
        *value = std::min(std::max(*value, row->min), row->max);
    end_row(row);
    return *value != before;
}

bool ui_row_list_begin(struct ui *ui, const struct ui_row *row, const char *shown) {
    float width;
    begin_row(ui, row, &width);
    bool open = list_field(ui, row, shown, width, NULL);
    if (!open)
        end_row(row);
    return open;
}

bool ui_seek_bar(struct ui *ui, const char *name, const char *help, double width, double max,
                 double *value) {
    double at = max > 0 ? *value / max : 0;
    ImGui::PushID(name);
    bool changed = bare_slider(ui, name, (float)width, &at);
    if (changed)
        *value = at * max;
    if (!ImGui::IsItemActive()) /* while it is dragged, the help would cover the picture */
        tooltip(ui, help);
    ImGui::PopID();
    return changed;
}

void ui_focus(struct ui *ui, const char *name) {
    g_strlcpy(ui->wanted, name, sizeof(ui->wanted));
}

const char *ui_used(const struct ui *ui) {
    return ui->used;
}

void ui_frame(struct ui *, const struct ui_rect *place, unsigned rgb) {
    ImVec2 min = point(place->x, place->y), size = point(place->width, place->height);
    ImGui::GetForegroundDrawList()->AddRect(min, min + size, color_of(rgb),
                                            ImGui::GetStyle().FrameRounding, 0, 2);
}

bool ui_was_clicked(const struct ui *) {
    return ImGui::IsMouseClicked(0);
}

void ui_complete_next(struct ui *ui, char *(*complete)(const char *typed)) {
    ui->complete = complete;
}

static int complete_text(ImGuiInputTextCallbackData *data) {
    auto complete = (char *(*)(const char *))data->UserData;
    char *rest = complete(data->Buf);
    if (rest)
        data->InsertChars(data->BufTextLen, rest);
    free(rest);
    return 0;
}

bool ui_text_input(struct ui *ui, const char *name, const char *hint, double ratio, char *text,
                   int size) {
    bool completes = ui->complete && *text && strchr("/.~", *text);
    ImGui::PushID(name);
    bool active = ImGui::GetActiveID() == ImGui::GetID("##entry");
    if (ui->complete)
        ui->completes = completes && active;
    if (completes && active) /* it was empty when it became active */
        GImGui->ActiveIdUsingKeyInputMask |= (ImU64)1 << ImGuiKey_Tab;
    if (strcmp(ui->wanted, name) == 0) {
        ImGui::SetKeyboardFocusHere();
        ui->wanted[0] = '\0';
    }
    ImGui::SetNextItemWidth((float)(ImGui::GetContentRegionAvail().x * ratio));
    ImGui::PushStyleColor(ImGuiCol_Border, color_of(ui_theme(ui)->edge));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    int flags = ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll;
    flags |= completes ? ImGuiInputTextFlags_CallbackCompletion : 0;
    bool entered = ImGui::InputTextWithHint("##entry", hint, text, (size_t)size, flags,
                                            completes ? complete_text : NULL, (void *)ui->complete);
    ui->complete = NULL;
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    add_widget_rect(ui, name);
    ImGui::PopID();
    if (entered)
        g_strlcpy(ui->used, name, sizeof(ui->used));
    return entered;
}

/* ---- cards and chips */

void ui_card_draw(struct ui *ui, const struct ui_card *card, double width) {
    const struct theme *theme = ui_theme(ui);
    const ImFont *note = ui->font[UI_NOTE], *number = ui->font[UI_NUMBER];
    float pad = (float)ui_px(ui, 10), high = 2 * note->FontSize + number->FontSize + 2.4f * pad;
    double x, y;
    ui_reserve(ui, card->name, width, high, &x, &y);
    tooltip(ui, card->help);
    ImVec2 min((float)x, (float)y), max(min.x + (float)width, min.y + high);
    ui->list->AddRectFilled(min, max, color_of(theme->card), ImGui::GetStyle().WindowRounding);
    ImVec2 at(min.x + pad, min.y + pad / 2);
    ui->list->PushClipRect(min, max, true);
    put(ui, at, theme->note, card->title, NULL, note);
    at.y += note->FontSize + pad / 2;
    put(ui, at, theme->text, card->value, NULL, number);
    float used = width_in(number, card->value) + pad / 2, units = width_in(note, card->unit);
    put(ui, ImVec2(at.x + used, at.y + number->FontSize - 1.25f * note->FontSize), theme->note,
        card->unit, NULL, note);
    put(ui, ImVec2(at.x, at.y + number->FontSize + pad / 2), theme->hint, card->note, NULL, note);
    float left = at.x + used + units + pad, most = 0;
    for (int i = 0; i < card->count; i++)
        most = std::max(most, card->history[i]);
    ImVector<ImVec2> line;
    for (int i = 0; i < card->count && most > 0 && max.x - pad > left; i++)
        line.push_back(ImVec2(left + (max.x - pad - left) * (float)i / (float)card->count,
                              at.y + number->FontSize * (1 - card->history[i] / most)));
    ui->list->AddPolyline(line.Data, line.Size, color_of(theme->accent), 0, (float)ui->scale);
    ui->list->PopClipRect();
}

void ui_chip(struct ui *ui, const char *name, const char *icon, unsigned rgb, const char *text,
             const char *help) {
    ImVec2 size((float)ui_tool_width(ui, icon, text), ImGui::GetFrameHeight());
    double x, y;
    ui_reserve(ui, name, size.x, size.y, &x, &y);
    tooltip(ui, help);
    ImVec2 at((float)x, (float)y);
    ui->list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), color_of(ui_theme(ui)->card),
                            size.y / 2);
    draw_words(ui, at, size, icon, rgb, text, ui_theme(ui)->note);
}

void ui_reserve(struct ui *ui, const char *name, double width, double height, double *x,
                double *y) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(point(width, height));
    add_widget_rect(ui, name);
    *x = at.x;
    *y = at.y;
}

void ui_box(struct ui *ui, double x, double y, double width, double height, unsigned rgb,
            double alpha) {
    ui->list->AddRectFilled(point(x, y), point(x + width, y + height), color_of(rgb, alpha));
}

void ui_outline(struct ui *ui, double x, double y, double width, double height, unsigned rgb) {
    ui->list->AddRect(point(x, y), point(x + width, y + height), color_of(rgb));
}

void ui_line(struct ui *ui, double x0, double y0, double x1, double y1, unsigned rgb) {
    ui->list->AddLine(point(x0, y0), point(x1, y1), color_of(rgb), (float)ui->scale);
}

void ui_polyline(struct ui *ui, const float *xy, int count, unsigned rgb) {
    static_assert(sizeof(ImVec2) == 2 * sizeof(float), "points are pairs of floats");
    ui->list->AddPolyline((const ImVec2 *)xy, count, color_of(rgb), 0, (float)ui->scale);
}

void ui_label(struct ui *ui, double x, double y, unsigned rgb, const char *text) {
    unsigned shadow = (rgb >> 8 & 255) > 110 ? 0 : 0xffffff; /* of the other brightness */
    if (ui->list == ImGui::GetBackgroundDrawList())
        put(ui, point(x + 1, y + 1), shadow, text);
    put(ui, point(x, y), rgb, text);
}

void ui_tag(struct ui *ui, double x, double y, const char *text) {
    ImVec2 size = ImGui::CalcTextSize(text);
    ui->list->AddRectFilled(point(x - 6, y - 3), point(x + size.x + 6, y + size.y + 3),
                            color_of(ui_theme(ui)->box, 0.85), ImGui::GetStyle().FrameRounding);
    ui_label(ui, x, y, ui_theme(ui)->box_text, text);
}

void ui_tag_inside(struct ui *ui, const char *name, double x, double y, double left, double top,
                   double width, double height, const char *text) {
    double line = ImGui::GetTextLineHeight(), size = ImGui::CalcTextSize(text).x;
    double at_x = x + line,
           at_y = std::min(std::max(y - line / 2, top + line / 2), top + height - 1.5 * line);
    if (at_x + size + line / 2 > left + width)
        at_x = x - size - line;
    ui_tag(ui, at_x, at_y, text);
    add_rect(ui, name, "", point(at_x - 6, at_y - 3), point(at_x + size + 6, at_y + line + 3));
}

void ui_sheet_begin(struct ui *ui) {
    ImDrawList *list = IM_NEW(ImDrawList)(ImGui::GetDrawListSharedData());
    list->_ResetForNewFrame();
    list->PushTextureID(ImGui::GetIO().Fonts->TexID);
    list->PushClipRectFullScreen();
    ui->list = list;
}

void ui_sheet_end(struct ui *ui, int width, int height) {
    ImDrawData data;
    data.Valid = true;
    data.CmdLists = &ui->list;
    data.CmdListsCount = 1;
    data.TotalIdxCount = ui->list->IdxBuffer.Size;
    data.TotalVtxCount = ui->list->VtxBuffer.Size;
    data.DisplaySize = point(width, height);
    data.FramebufferScale = ImVec2(1, 1);
    ImGui_ImplOpenGL3_RenderDrawData(&data);
    IM_DELETE(ui->list);
    ui->list = ImGui::GetBackgroundDrawList();
}

double ui_text_width(struct ui *, const char *text) {
    return ImGui::CalcTextSize(text).x;
}

double ui_available_width(struct ui *) {
    return ImGui::GetContentRegionAvail().x;
}

double ui_text_height(struct ui *) {
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

void ui_note_rect(struct ui *ui, const char *name, double x, double y, double width,
                  double height) {
    add_rect(ui, name, "", point(x, y), point(x + width, y + height));
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
